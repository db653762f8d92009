// The metrics of a process: prom-client's default metrics of Node.js, and its own counters, gauges and histograms.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The known values of each label; empty if they are not known in advance. */
type Labels<L extends string> = Record<L, readonly string[]>;

/**
 * Counters and gauges of the set begin with a 0 in every series whose label values are known, because Prometheus sees
 * no increase in a series that starts with its first event.
 */
export function createMetricSet() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  function counter<L extends string = never>(name: string, help: string, labels = {} as Labels<L>): Counter<L> {
    const metric = new Counter({ name, help, labelNames: namesOf(labels), registers });
    for (const series of seriesOf(labels)) metric.inc(series, 0);
    return metric;
  }

  function gauge<L extends string = never>(name: string, help: string, labels = {} as Labels<L>): Gauge<L> {
    const metric = new Gauge({ name, help, labelNames: namesOf(labels), registers });
    for (const series of seriesOf(labels)) metric.set(series, 0);
    return metric;
  }

  function histogram<L extends string = never>(
    name: string,
    help: string,
    { labelNames = [], buckets }: { labelNames?: L[]; buckets: number[] },
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers });
  }

  return { registry, counter, gauge, histogram };
}

function namesOf<L extends string>(labels: Labels<L>): L[] {
  return Object.keys(labels) as L[];
}

function seriesOf<L extends string>(labels: Labels<L>): Record<L, string>[] {
  let series = [{} as Record<L, string>];
  for (const label of namesOf(labels)) {
    series = series.flatMap((one) => labels[label].map((value) => ({ ...one, [label]: value })));
  }
  return series;
}
