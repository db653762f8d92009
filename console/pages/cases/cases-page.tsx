import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, unwrap } from '../../service/api.js';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { explain, isNotFound } from '../../service/explain.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { mayAct, type Role } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { useSearchState } from '../../service/search-state.js';
import { byType, labelOf, nodesOf } from '../../drawing/drawing.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Money } from '../../ui/figures.js';
import { Alert, announce } from '../../ui/notices.js';
import { NotFound, PageHeader } from '../../ui/page-header.js';
import { Status } from '../../ui/status.js';
import { Table, type Column } from '../../ui/table.js';
import {
  cancelCases,
  changeCase,
  removeCase,
  runCases,
  useCaseRun,
  useCases,
  type Case,
  type CaseRun,
} from '../../parts/cases/case-calls.js';
import { CaseDialog } from '../../parts/cases/case-dialog.js';
import { CaseDifferences } from './case-differences.js';
import '../../parts/cases/cases.css';

/** The test cases of a workflow, and the results of the case run that the address names. */
export function CasesPage({ workflowId }: { workflowId: number }) {
  const workflow = useQuery({
    queryKey: ['workflow', workflowId, 'cases-page'],
    queryFn: async ({ signal }) => {
      const params = { path: { id: workflowId } };
      const [{ title, role, data }, kinds] = await Promise.all([
        unwrap(api.GET('/api/v1/workflows/{id}/', { params, signal })),
        unwrap(api.GET('/api/v1/workflows/get_nodes/', { signal })),
      ]);
      const nodes = [...nodesOf(data).values()];
      return { title, role, labels: new Map(nodes.map((node) => [node.id, labelOf(node, byType(kinds))])) };
    },
  });
  const cases = useCases(workflowId);
  if (isNotFound(workflow.error)) return <NotFound />;
  if (workflow.data === undefined || cases.data === undefined) {
    return (
      <>
        <PageHeader title="Cases" />
        <QueryPlaceholder {...(workflow.data === undefined ? workflow : cases)} />
      </>
    );
  }
  return (
    <>
      <Problem error={cases.error} onRetry={() => void cases.refetch()} isRetrying={cases.isFetching} />
      <Listed workflowId={workflowId} cases={cases.data} {...workflow.data} />
    </>
  );
}

interface ListedProps {
  workflowId: number;
  title: string;
  role: Role;
  labels: ReadonlyMap<string, string>;
  cases: readonly Case[];
}

/** `?run=` in the address is the id of the shown case run: one execution of some or all of the cases. */
function Listed({ workflowId, title, role, labels, cases }: ListedProps) {
  const search = useSearchState();
  const caseRunId = search.get('run');
  const query = useCaseRun(workflowId, caseRunId);
  const caseRun = caseRunId === '' ? undefined : query.data;
  const isRunning = caseRun?.status === 'in progress';
  const isEditor = mayAct(role, 'editor');
  const [dialog, setDialog] = useState<Asked>();
  const close = (): void => setDialog(undefined);
  const run = useMutation({
    mutationFn: (ids?: number[]) => runCases(workflowId, ids),
    onSuccess: (id) => {
      announce('The cases are running.');
      search.set({ run: id });
    },
  });
  const cancel = useMutation({
    mutationFn: (id: string) => cancelCases(workflowId, id),
    onSuccess: () => void query.refetch(),
  });
  useAnnouncedEnd(caseRun);
  const statusOf = ({ id }: Case): string => caseRun?.cases.find((each) => each.case_id === id)?.status ?? 'not run';
  const isBusy = run.isPending || isRunning;
  return (
    <>
      <PageHeader
        title="Cases"
        actions={
          <>
            <ButtonLink to={`/workflows/${workflowId}`}>{title}</ButtonLink>
            {isEditor && isRunning && (
              <Button
                variant="danger"
                isBusy={(cancel.isPending || cancel.isSuccess) && cancel.variables === caseRunId}
                onClick={() => cancel.mutate(caseRunId)}
              >
                Cancel cases
              </Button>
            )}
            {isEditor && cases.length > 0 && (
              <Button variant="primary" isBusy={isBusy} onClick={() => run.mutate(undefined)}>
                Run all
              </Button>
            )}
          </>
        }
      />
      {run.error !== null && <Alert>{explain(run.error)}</Alert>}
      {isRunning && cancel.error !== null && cancel.variables === caseRunId && (
        <Alert onRetry={() => cancel.mutate(caseRunId)}>{explain(cancel.error)}</Alert>
      )}
      {caseRunId !== '' && (
        <Problem error={query.error} onRetry={() => void query.refetch()} isRetrying={query.isFetching} />
      )}
      {caseRun !== undefined && <Summary run={caseRun} />}
      <div className="cases-list">
        <Table
          label="Cases"
          columns={columnsOf({ workflowId, isEditor, isBusy, statusOf, run: (id) => run.mutate([id]), ask: setDialog })}
          rows={cases}
          keyOf={({ id }) => id}
          empty="There is no case yet. Run the workflow, and press “Save as case” on the page of the run."
        />
      </div>
      {caseRun !== undefined && <CaseDifferences run={caseRun} cases={cases} labels={labels} />}
      {dialog?.asked === 'edit' && (
        <CaseDialog
          title="Edit case"
          name={dialog.of.name}
          expect={dialog.of.expect}
          labels={labels}
          save={({ name, expect }) => changeCase(workflowId, dialog.of.id, { name, ...(expect && { expect }) })}
          announcement="The case is saved."
          onClose={close}
        />
      )}
      {dialog?.asked === 'remove' && (
        <ConfirmDelete
          noun="case"
          remove={() => removeCase(workflowId, dialog.of.id)}
          invalidates={['cases']}
          onClose={close}
        >
          “{dialog.of.name}” is gone for good. Its runs stay.
        </ConfirmDelete>
      )}
    </>
  );
}

interface Asked {
  asked: 'edit' | 'remove';
  of: Case;
}

interface ColumnOptions {
  workflowId: number;
  isEditor: boolean;
  isBusy: boolean;
  statusOf: (of: Case) => string;
  run: (caseId: number) => void;
  ask: (asked: Asked) => void;
}

function columnsOf({ workflowId, isEditor, isBusy, statusOf, run, ask }: ColumnOptions): Column<Case>[] {
  const columns: Column<Case>[] = [
    { heading: 'Name', isName: true, cell: ({ name }) => name },
    { heading: 'Status', cell: (each) => <Status status={statusOf(each)} /> },
    {
      heading: 'Required',
      cell: (each) => <RequiredBox workflowId={workflowId} of={each} isReadOnly={!isEditor} />,
    },
  ];
  if (isEditor) {
    columns.push({
      heading: 'Actions',
      isHeadingHidden: true,
      cell: (each) => (
        <div className="case-actions">
          <Button variant="quiet" aria-label={`Run ${each.name}`} isBusy={isBusy} onClick={() => run(each.id)}>
            Run
          </Button>
          <Button variant="quiet" aria-label={`Edit ${each.name}`} onClick={() => ask({ asked: 'edit', of: each })}>
            Edit
          </Button>
          <Button variant="quiet" aria-label={`Remove ${each.name}`} onClick={() => ask({ asked: 'remove', of: each })}>
            Remove
          </Button>
        </div>
      ),
    });
  }
  return columns;
}

function Summary({ run: { status, passed, failed, cost, cases } }: { run: CaseRun }) {
  return (
    <p className="case-summary">
      <Status status={status} />
      <span>
        {passed} of {cases.length} passed{failed > 0 && `, ${failed} failed`}
      </span>
      <Money amount={cost} />
    </p>
  );
}

/** Announces the end of a run of cases that this page has shown in progress. */
function useAnnouncedEnd(run: CaseRun | undefined): void {
  const { id, status, passed = 0, failed = 0 } = run ?? {};
  const followed = useRef<string>(undefined);
  useEffect(() => {
    if (status === 'in progress') followed.current = id;
    else if (id !== undefined && followed.current === id) announce(`${passed} passed, ${failed} failed`);
  }, [id, status, passed, failed]);
}

interface RequiredBoxProps {
  workflowId: number;
  of: Case;
  isReadOnly: boolean;
}

/** Checked if the case must pass before the workflow can be published. */
function RequiredBox({ workflowId, of: { id, name, required }, isReadOnly }: RequiredBoxProps) {
  /** The wanted state while it is being stored. */
  const [wanted, setWanted] = useState<boolean>();
  const change = useChange((isRequired: boolean) => changeCase(workflowId, id, { required: isRequired }), {
    invalidates: ['cases'],
    announcement: 'Saved',
  });
  return (
    <>
      <label className="case-required">
        <input
          type="checkbox"
          className="checkbox-field-box"
          checked={wanted ?? required}
          disabled={isReadOnly}
          onChange={({ target }) => {
            setWanted(target.checked);
            change.mutate(target.checked, { onSettled: () => setWanted(undefined) });
          }}
        />
        <span className="hidden-text">Required: {name}</span>
      </label>
      <Problem error={change.error} />
    </>
  );
}
