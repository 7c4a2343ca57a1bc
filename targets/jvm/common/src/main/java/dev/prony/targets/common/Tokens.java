package dev.prony.targets.common;

import com.auth0.jwt.JWT;
import com.auth0.jwt.JWTVerifier;
import com.auth0.jwt.algorithms.Algorithm;
import com.auth0.jwt.exceptions.JWTVerificationException;

/** The bearer token of /auth and of the token layer: HS256 only, with exp in the future and a subject. */
public final class Tokens {

    private static final String SCHEME = "Bearer ";

    private final JWTVerifier verifier;

    public Tokens(String secret) {
        verifier = JWT.require(Algorithm.HMAC256(secret)).withClaimPresence("exp").withClaimPresence("sub").build();
    }

    /**
     * The subject of an Authorization header.
     *
     * @throws Refusal 401 where there is no token or it is wrong
     */
    public String subject(String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            throw new Refusal(401, "a bearer token is missing");
        }
        String subject = verified(authorization.substring(SCHEME.length()).strip());
        if (subject == null) {
            throw new Refusal(401, "the token is refused: sub is no text");
        }
        return subject;
    }

    private String verified(String token) {
        try {
            // getSubject would also give a number, as text.
            return verifier.verify(token).getClaim("sub").asString();
        } catch (JWTVerificationException refused) {
            throw new Refusal(401, "the token is refused: " + refused.getMessage());
        }
    }
}
