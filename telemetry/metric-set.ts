// The metrics of a process: what every process shows, and counters, gauges and histograms of its own.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The values that each label is known to have; none where they are not known before. */
type Labels<L extends string> = Record<L, readonly string[]>;

/**
 * Every series whose labels are known is created with 0: Prometheus sees no increase in a series that begins with its first
 * event.
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

/** All combinations of the values. */
function seriesOf<L extends string>(labels: Labels<L>): Record<L, string>[] {
  let series = [{} as Record<L, string>];
  for (const label of namesOf(labels)) {
    series = series.flatMap((one) => labels[label].map((value) => ({ ...one, [label]: value })));
  }
  return series;
}
