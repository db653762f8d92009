import { toSample, type Sample, type SampleFile } from './sample.js';

const files = import.meta.glob<SampleFile>('/../examples/{graphs,gallery}/*.json', { eager: true, import: 'default' });

/** The workflows of examples/, by their titles. */
export const SAMPLES: readonly Sample[] = Object.entries(files)
  .map(([path, file]) => toSample(path.replace(/^.*\/|\.json$/g, ''), file))
  .toSorted((one, other) => one.title.localeCompare(other.title));
