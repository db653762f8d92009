import { Money } from '../../ui/figures.js';
import type { Published } from './marketplace-list.js';

/** What a succeeded run of a copy costs besides its calls. */
export function Fee({ workflow }: { workflow: Pick<Published, 'run_fee' | 'free_runs_per_user'> }) {
  const { run_fee: fee, free_runs_per_user: free } = workflow;
  if (/^[0.]+$/.test(fee)) return <>No fee</>;
  return (
    <>
      <Money amount={{ USD: fee }} /> a run
      {free === 0 ? '' : free === 1 ? ', the first is free' : `, the first ${free} are free`}
    </>
  );
}
