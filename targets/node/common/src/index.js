// What the Node targets do alike, so that a comparison shows the frameworks and
// nothing else. Routing and JSON encoding are absent: they are what a framework
// does.

export { failure, ok, parseCount, parseId, parseKey, parseLayers, parseName, parseQueries, records } from './contract.js';
export { FILES, UPLOAD_BYTES_MAX, digest } from './bytes.js';
export { openAccessLog, traceparent } from './layers.js';
export { Refusal, statusOf } from './refusal.js';
export { RequestCounter, runtimeReader } from './runtime.js';
export { listen, main } from './serve.js';
export { Services } from './services.js';
export { SettingError, boolean, integer, readSettings } from './settings.js';
export { tokenChecker } from './token.js';
export { TIMEOUTS } from './timeouts.js';
