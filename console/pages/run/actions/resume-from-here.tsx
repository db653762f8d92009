import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { useMayRun, type RunDetail } from '../run-data.js';
import { mayResume } from './resumable.js';
import { ResumeDialog } from './resume-dialog.js';

interface ResumeFromHereProps {
  run: RunDetail;
  nodeId: string;
  label: string;
  labels: ReadonlyMap<string, string>;
}

/** The button of a node outside loops. */
export function ResumeFromHere({ run, nodeId, label, labels }: ResumeFromHereProps) {
  const mayRun = useMayRun(run.project.id);
  const [isOpen, setOpen] = useState(false);
  const isOutside = Object.hasOwn(run.result, nodeId);
  if (!mayRun || !isOutside || !mayResume(run)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Resume from here</Button>
      {isOpen && <ResumeDialog run={run} labels={labels} from={{ id: nodeId, label }} onClose={() => setOpen(false)} />}
    </>
  );
}
