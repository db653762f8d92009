import { useState } from 'react';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { Button } from '../../ui/button.js';
import { useProblems } from './check.js';
import './editor.css';
import { Problems } from './problems.js';
import { Runs } from './runs.js';
import type { Saver } from './saver.js';
import { LastRun } from './test-run/last-run.js';

type DrawerName = 'problems' | 'runs';

interface FootProps {
  saver: Saver;
  isAssistantOpen: boolean;
  onAssistant: () => void;
}

/** The bar below the canvas, and the drawer that one of its buttons has opened. */
export function Foot({ saver, isAssistantOpen, onAssistant }: FootProps) {
  const { isReadOnly } = useStore();
  const [open, setOpen] = useState<DrawerName>();
  const check = useProblems(useStore(), saver);
  const close = (): void => setOpen(undefined);
  const toggle = (name: DrawerName) => (): void => setOpen(open === name ? undefined : name);
  return (
    <>
      {open === 'problems' && <Problems check={check} onClose={close} />}
      {open === 'runs' && <Runs workflowId={saver.getState().workflow.id} onClose={close} />}
      <div className="editor-foot">
        <ProblemsButton isOpen={open === 'problems'} isChecking={check.isChecking} onPress={toggle('problems')} />
        <Button variant="quiet" aria-expanded={open === 'runs'} onClick={toggle('runs')}>
          Runs
        </Button>
        <LastRun saver={saver} />
        {!isReadOnly && (
          <Button variant="quiet" className="editor-assistant" aria-expanded={isAssistantOpen} onClick={onAssistant}>
            Assistant
          </Button>
        )}
      </div>
    </>
  );
}

interface ProblemsButtonProps {
  isOpen: boolean;
  isChecking: boolean;
  onPress: () => void;
}

function ProblemsButton({ isOpen, isChecking, onPress }: ProblemsButtonProps) {
  const number = useEditor((state) => state.problems.length);
  const hasErrors = useEditor((state) => state.problems.some(({ severity }) => severity === 'error'));
  return (
    <Button variant="quiet" aria-expanded={isOpen} aria-busy={isChecking} onClick={onPress}>
      <span>
        Problems<span className="hidden-comma">, </span>
        <span className="problems-count" data-severity={number === 0 ? 'none' : hasErrors ? 'error' : 'warning'}>
          {number}
        </span>
      </span>
    </Button>
  );
}
