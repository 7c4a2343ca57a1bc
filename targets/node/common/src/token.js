// The bearer token of /auth and of the token layer: HS256 only, with exp in the
// future and a subject. Nothing verified is remembered, since checking belongs
// to the request.

import { createVerifier } from 'fast-jwt';

import { Refusal } from './refusal.js';

/**
 * @param {string} secret
 * @returns {(authorization: string | undefined) => string} gives the subject of an Authorization header, or throws a 401
 */
export function tokenChecker(secret) {
  const verify = createVerifier({ key: secret, algorithms: ['HS256'], requiredClaims: ['exp', 'sub'], cache: false });
  return (authorization) => {
    const token = /^Bearer +([^ ]+)$/i.exec(authorization ?? '')?.[1];
    if (!token) throw new Refusal(401, 'a bearer token is missing');
    return subject(verify, token);
  };
}

function subject(verify, token) {
  let claims;
  try {
    claims = verify(token);
  } catch (error) {
    throw new Refusal(401, `the token is refused: ${error.message}`, { cause: error });
  }
  if (typeof claims.sub !== 'string') throw new Refusal(401, 'the token is refused: sub is no text');
  return claims.sub;
}
