// Response schemas, from which Fastify compiles an encoder for each route
// (fast-json-stringify). They must name every field: what a schema does not
// name is left out of the answer. Errors have a schema of their own by status.

const text = { type: 'string' };
const whole = { type: 'integer' };
const flag = { type: 'boolean' };

const userFields = { id: whole, name: text, email: text, age: whole, active: flag };
const user = object({ ...userFields, score: whole });
const record = object({ ...userFields, score: { type: 'number' }, tags: list(text) });
const cached = object({ key: text, value: text });

export const schemas = {
  ping: answers(object({})),
  records: answers(list(record)),
  // One user, or with ?queries=q the list of them.
  user: answers(object({ ...user.properties, users: list(user) })),
  users: answers(object({ users: list(user) })),
  auth: answers(object({ sub: text })),
  cache: answers(cached),
  middleware: answers(object({ layers: whole })),
  mixed: answers(object({ user, cached, records: list(record) })),
  upload: answers(object({ bytes: whole, sha256: text })),
  health: { response: { 200: object({ status: text }), '4xx': envelope(object({})), '5xx': envelope(object({})) } },
};

function answers(data) {
  const failed = envelope(object({}));
  return { response: { 200: envelope(data), '4xx': failed, '5xx': failed } };
}

function envelope(data) {
  return object({ code: whole, msg: text, data });
}

function object(properties) {
  return { type: 'object', properties };
}

function list(items) {
  return { type: 'array', items };
}
