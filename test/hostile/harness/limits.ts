// The limits under which docker-compose.yml runs the API and the worker.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export type Part = 'api' | 'worker';
export const PARTS: Part[] = ['api', 'worker'];

export interface PartLimits {
  memoryMiB: number;
  nodeOptions: string;
}

interface ComposeFile {
  services: Record<
    Part,
    { environment: { NODE_OPTIONS: string }; deploy: { resources: { limits: { memory: string } } } }
  >;
}

const COMPOSE_FILE = path.resolve(import.meta.dirname, '../../../docker-compose.yml');

export function readLimits(): Record<Part, PartLimits> {
  const { services } = parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true }) as ComposeFile;
  const limitsOf = (part: Part): PartLimits => {
    const { environment, deploy } = services[part];
    const memoryMiB = Number(/^(\d+)m$/.exec(deploy.resources.limits.memory)?.[1]);
    if (Number.isNaN(memoryMiB)) throw new Error(`docker-compose.yml: the memory of ${part} is not given as in 640m.`);
    return { memoryMiB, nodeOptions: environment.NODE_OPTIONS };
  };
  return { api: limitsOf('api'), worker: limitsOf('worker') };
}
