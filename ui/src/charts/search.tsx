/**
 * A search for the highest rate under an objective: every rate that was tried, in order.
 *
 * Invariants: filled passed, a hollow ring did not, a cross could not be judged; the line is the verified rate, the
 * band the interval of the limit.
 */
import { useCallback, useMemo } from "preact/hooks";
import { axisNumber, chosenRate } from "../format";
import { type Words, useWords } from "../words";
import { clean, drawable, extent, padded, plainAxis, roomFor, SMALL, tip, titled, tooltip } from "./base";
import { Chart } from "./chart";
import type { Capacity } from "./data";
import type { ChartOption, Series } from "./echarts";
import type { Look } from "./look";
import { english } from "../words/said/text";

type Search = NonNullable<Capacity["search"]>;
type Step = Search["steps"][number];

const answerOf = (step: Step, words: Words): string =>
  step.passed == null ? words.charts.undecided : step.passed ? words.charts.passed : words.charts.notPassed;

function stepSign(step: Step, look: Look) {
  if (step.passed == null)
    return { symbol: "path://M0 0L10 10M10 0L0 10", itemStyle: { borderColor: look.faint, borderWidth: 2 } };
  if (step.passed) return { symbol: "circle", itemStyle: { color: look.good } };
  return { symbol: "circle", itemStyle: { color: look.ground, borderColor: look.bad, borderWidth: 2 } };
}

const HEIGHT = 200;

export function searchOption(search: Search, look: Look, words: Words): ChartOption {
  const t = words.charts;
  const ends = [search.limit?.low, search.limit?.high, search.verified_per_s];
  const range = padded(extent([...search.steps.map((step) => step.rate_per_s), ...ends]) ?? [0, 1], 0.1);
  const shared = plainAxis(look, true);
  const { limit, verified_per_s } = search;
  return {
    grid: { left: 62, right: 18, top: 30, height: HEIGHT },
    xAxis: {
      ...plainAxis(look, false),
      type: "value",
      min: 0.5,
      max: search.steps.length + 0.5,
      minInterval: 1,
      splitNumber: roomFor(look.width, 80),
      name: t.searchAxis,
      nameLocation: "middle",
      nameGap: 26,
      axisLabel: { ...shared.axisLabel, formatter: (at: number) => (Number.isInteger(at) ? String(at) : "") },
    } as ChartOption["xAxis"],
    yAxis: {
      ...shared,
      type: "value",
      min: range[0],
      max: range[1],
      splitNumber: 5,
      ...titled(look, t.searchPanel, 12),
      axisLabel: {
        ...shared.axisLabel,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: (n: number) => axisNumber(n, range[1]),
      },
    } as ChartOption["yAxis"],
    tooltip: tooltip(look, "item", ([hovered]) => {
      const step = hovered && search.steps[hovered.dataIndex];
      if (!step) return "";
      const rows = [
        { name: t.searchPurposes[step.purpose], value: chosenRate(step.rate_per_s) },
        { name: t.verdict, value: answerOf(step, words) },
      ];
      return tip(`${t.trial} ${step.trial}`, rows, clean(step.reasons.map(english).join("; "), 300));
    }),
    series: [
      {
        type: "line",
        name: t.search,
        data: search.steps.map((step, at) => ({ value: [at + 1, step.rate_per_s], ...stepSign(step, look) })),
        symbolSize: 9,
        showAllSymbol: true,
        lineStyle: { color: look.strong, width: 1, type: "solid" },
        itemStyle: { color: look.good },
        emphasis: { disabled: true },
        z: 3,
        ...(limit
          ? {
              markArea: {
                silent: true,
                itemStyle: { color: look.quiet, opacity: 0.15 },
                data: [[{ yAxis: limit.low ?? range[0] }, { yAxis: limit.high ?? range[1] }]],
              },
            }
          : {}),
        ...(drawable(verified_per_s)
          ? {
              markLine: {
                silent: true,
                symbol: "none",
                lineStyle: { color: look.good, type: [6, 3], width: 1.5 },
                label: {
                  position: "insideEndTop",
                  color: look.good,
                  fontSize: SMALL,
                  formatter: () => t.verified(chosenRate(verified_per_s)),
                },
                data: [{ yAxis: verified_per_s }],
              },
            }
          : {}),
      } as unknown as Series,
    ],
  };
}

export function SearchChart({ search }: { search: Search }) {
  const words = useWords();
  const label = useMemo(() => {
    const told = search.steps.map((step) => `${chosenRate(step.rate_per_s)} ${answerOf(step, words)}`);
    return `${words.charts.search}. ${told.join("; ")}`;
  }, [search, words]);
  const make = useCallback((look: Look) => searchOption(search, look, words), [search, words]);
  if (search.steps.length < 2) return null;
  return <Chart name="search" label={label} height={() => 30 + HEIGHT + 46} make={make} />;
}
