// A small shop as somebody else would write it: node:http and prom-client with its default metrics. Each route has one
// fault that load brings out; nothing here knows of prony.
import http from "node:http";
import client from "prom-client";

client.collectDefaultMetrics();

const [host, port] = process.env.LISTEN.split(":");
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const carts = [];
let invoices = 0;

/** Every tenth invoice is a large one, and its total is computed on the event loop. */
function invoice() {
  invoices += 1;
  if (invoices % 10 !== 0) return "invoice";
  const until = performance.now() + 60;
  let total = 0;
  while (performance.now() < until) total += Math.sqrt(total + 1);
  return `invoice ${total > 0}`;
}

/** Each cart is kept in case its owner comes back. */
function cart() {
  carts.push(Buffer.alloc(64 << 10, carts.length & 0xff));
  return `cart ${carts.length}`;
}

function once() {
  return new Promise((resolve, reject) => {
    const request = http.get(`${process.env.BACKEND}/narrow`, { agent }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode === 200));
    });
    request.on("error", reject);
  });
}

/** Asks again at once until it is served. */
async function delivery() {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    if (await once()) return "delivered";
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return "later";
}

const routes = { "/invoice": invoice, "/cart": cart, "/delivery": delivery, "/health": () => "ok" };

http
  .createServer(async (request, response) => {
    if (request.url === "/metrics") {
      response.setHeader("Content-Type", client.register.contentType);
      response.end(await client.register.metrics());
      return;
    }
    const route = routes[request.url];
    if (!route) {
      response.statusCode = 404;
      response.end();
      return;
    }
    response.end(await route());
  })
  .listen(Number(port), host);
