/** Names stand for counters that are really collected, and none is given twice within a source. */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { COUNTER_KEYS, counterName, isCpuTime } from "./counters";

const COLLECT = resolve(import.meta.dirname, "../../../crates/collect/src");
const sources = (readdirSync(COLLECT, { recursive: true }) as string[])
  .filter((path) => path.endsWith(".rs"))
  .map((path) => readFileSync(join(COLLECT, path), "utf8"))
  .join("\n");

describe("names of counters", () => {
  it("are of counters that the collector knows", () => {
    const unknown = COUNTER_KEYS.filter((key) => {
      const [source = "", name = ""] = key.split("/");
      return !sources.includes(`"${source}"`) || !sources.includes(name.replace(/^lo_/, ""));
    });
    expect(unknown).toEqual([]);
  });

  it("tell the counters of one source apart, in both languages", () => {
    for (const lang of ["en", "zh"] as const) {
      const told = COUNTER_KEYS.map((key) => `${key.split("/")[0]}: ${counterName(key, lang)}`);
      expect(told.filter((one, at) => told.indexOf(one) !== at)).toEqual([]);
    }
  });

  it("name a service, and leave what is unknown", () => {
    expect(counterName("service.main.db.redis/clients", "en")).toBe("main.db: clients");
    expect(counterName("service.cache.process/cpu_ns", "zh")).toBe("cache：CPU 时间");
    for (const key of ["no.such/counter", "service.x.db/no_such", "constructor", "service.x.db/"]) {
      expect(counterName(key, "en")).toBeUndefined();
    }
  });

  it("are of CPU time where that is what is counted", () => {
    for (const key of ["go.runtime/gc_cpu_ns", "host.stat/idle_ns", "service.db.process/user_ns"]) {
      expect(isCpuTime(key)).toBe(true);
    }
    for (const key of [
      "target.cgroup/throttled_ns",
      "target.process/run_delay_ns",
      "host.pressure/cpu_some_ns",
    ]) {
      expect(isCpuTime(key)).toBe(false);
    }
  });
});
