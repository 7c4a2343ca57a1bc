// What k6 is asked to do in a case, and what it prints for peer/k6.rs: counts only, as one JSON object.
import http from 'k6/http';

const connections = Number(__ENV.CONNECTIONS);
const rate = Number(__ENV.RATE);
const duration = `${__ENV.SECONDS}s`;

const closed = { executor: 'constant-vus', vus: connections, duration, gracefulStop: '1s' };
const open = {
  executor: 'constant-arrival-rate',
  rate,
  timeUnit: '1s',
  duration,
  preAllocatedVUs: connections,
  maxVUs: connections,
  gracefulStop: '1s',
};

export const options = {
  scenarios: { load: rate > 0 ? open : closed },
  discardResponseBodies: true,
  insecureSkipTLSVerify: true,
  noConnectionReuse: __ENV.FRESH === '1',
};

export default function () {
  http.get(__ENV.URL);
}

export function handleSummary(data) {
  const { count, rate: perSecond } = data.metrics.http_reqs.values;
  // `http_req_failed` is a rate of failures: its passes are the requests that failed.
  const failed = data.metrics.http_req_failed.values.passes;
  return { stdout: `${JSON.stringify({ requests: count, rate: perSecond, failed })}\n` };
}
