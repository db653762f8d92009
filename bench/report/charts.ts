// The plots of docs/evidence/benchmarks.md.
import { median } from '../statistics.js';
import type { Measured, Results } from '../results.js';
import { serviceCpu } from './limits.js';
import { toLineChart, type LineChart, type Point, type Series } from './line-chart.js';

/** By file name; a plot whose rows were not measured is left out. */
export function toCharts({ nodes, throughput }: Results): Record<string, string> {
  const concurrency = throughput.filter(({ row }) => row === 'concurrency');
  const charts: Record<string, LineChart> = {
    'time-per-node.svg': {
      title: 'Time a node against nodes in a run',
      xLabel: 'HTTP nodes in a run (one after the other, one run at a time)',
      yLabel: 'milliseconds a node',
      xScale: 'log',
      series: toSeries(nodes, (cost) => toPoint(cost.nodes, perNode(cost.msPerRun, cost.nodes))),
    },
    'cpu-per-node.svg': {
      title: 'Processor time a node against nodes in a run',
      xLabel: 'HTTP nodes in a run (one after the other, one run at a time)',
      yLabel: 'CPU ms a node, worker and API (gateway)',
      xScale: 'log',
      series: toSeries(nodes, (cost) => toPoint(cost.nodes, perNode(serviceCpu(cost), cost.nodes))),
    },
    'throughput.svg': {
      title: 'Throughput against concurrency, chain of 5',
      xLabel: 'runs at once',
      yLabel: 'runs a second',
      xScale: 'linear',
      series: toSeries(concurrency, ({ lanes, perSecond }) => toPoint(lanes, perSecond)),
    },
  };
  return Object.fromEntries(
    Object.entries(charts)
      .filter(([, { series }]) => series.length > 0)
      .map(([file, chart]) => [file, toLineChart(chart)]),
  );
}

/** A line for each subject; a twin that was measured in several stacks has one in each. */
function toSeries<T extends Measured>(measured: readonly T[], pointOf: (figure: T) => Point): Series[] {
  const lines = new Map<string, Point[]>();
  for (const figure of measured) {
    const name = figure.subject === 'service' ? `service, ${figure.variant}` : `${figure.subject} (${figure.variant})`;
    lines.set(name, [...(lines.get(name) ?? []), pointOf(figure)]);
  }
  return [...lines].map(([name, points]) => ({ name, points: points.toSorted((a, b) => a.x - b.x) }));
}

function perNode(perRun: readonly number[], nodes: number): number[] {
  return perRun.map((value) => value / nodes);
}

function toPoint(x: number, rounds: readonly number[]): Point {
  return { x, y: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds) };
}
