import type { RunDetail } from '../run-data.js';

/** Whether results of the run can be taken over: it has ended, and they have not expired. */
export function mayResume({ status, results_expired_at: expiredAt }: RunDetail): boolean {
  return status !== 'In Progress' && status !== 'Draft' && expiredAt === undefined;
}

/** Whether something of the run failed, was cancelled or never ran. */
export function isUnfinished({ status }: RunDetail): boolean {
  return status === 'Error' || status === 'Cancelled';
}
