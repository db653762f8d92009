import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { useStore } from '../../drawing/editor-store.js';
import { toPath } from '../../drawing/variable-path.js';
import { searchVariables } from '../../drawing/variable-tree.js';
import type { VariableChoice, VariableGroup } from '../../drawing/variables.js';
import { VariableList } from '../../forms/variable-tree.js';
import { JsonTable } from '../../parts/node-result/json-table.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { SearchField } from '../../ui/fields.js';
import { toText } from '../../ui/json.js';
import { partOf } from '../../ui/part-of.js';
import { partsOutsideTables, tablesIn } from '../../ui/rows.js';
import { useFormVariables } from './form-variables.js';
import { readPath } from './test-run/variable-values.js';

const FORMS = ['Tree', 'Table', 'JSON'] as const;
type Form = (typeof FORMS)[number];

interface IncomingValuesProps {
  workflowId: number;
  isChat: boolean;
  nodeId: string;
  /** Inserts a variable into the field that had the focus last. */
  onChoose: (text: string) => void;
}

/** The variables that a node can read (`variablesFor`), with values of pins, tests and the last or the chosen run. */
export function IncomingValues({ workflowId, isChat, nodeId, onChoose }: IncomingValuesProps) {
  const { isReadOnly } = useStore();
  const variables = useFormVariables(workflowId, nodeId, isChat);
  const want = useEffectEvent(() => variables.want());
  useEffect(() => want(), []);
  const [form, setForm] = useState<Form>('Tree');
  const [search, setSearch] = useState('');
  const groups = variables.groups();
  return (
    <section className="incoming" aria-label="What comes in">
      <div className="incoming-head">
        <SearchField label="Search what comes in" value={search} onChange={setSearch} />
        <div className="incoming-forms" role="group" aria-label="Show what comes in as">
          {FORMS.map((each) => (
            <Button key={each} variant="quiet" aria-pressed={each === form} onClick={() => setForm(each)}>
              {each}
            </Button>
          ))}
        </div>
      </div>
      {groups.length === 0 && (
        <p className="field-hint">Nothing comes before this node yet. Link another node to it.</p>
      )}
      {groups.length > 0 && !isReadOnly && (
        <p className="field-hint">Click to insert into the field that you were in, or drag into a field.</p>
      )}
      {form === 'Tree' ? (
        <VariableList groups={groups} search={search} onChoose={onChoose} />
      ) : (
        <Values groups={groups} search={search} form={form} onChoose={onChoose} />
      )}
    </section>
  );
}

interface ValuesProps {
  groups: readonly VariableGroup[];
  search: string;
  form: Form;
  onChoose: (text: string) => void;
}

function Values({ groups, search, form, onChoose }: ValuesProps) {
  const found = useMemo(() => searchVariables(groups, search.trim()), [groups, search]);
  if (found.length === 0 && groups.length > 0) return <p>No variable matches.</p>;
  return found.map((group, at) => (
    <section key={at} className="variables" aria-label={group.heading}>
      <h3>
        {group.heading} {group.origin !== undefined && <span className="variables-origin">{group.origin}</span>}
      </h3>
      {form === 'Table' ? <Tables group={group} onChoose={onChoose} /> : <Text group={group} />}
    </section>
  ));
}

/** A table for each list of objects in the values, and one for all values outside. Each cell inserts a variable. */
function Tables({ group, onChoose }: { group: VariableGroup; onChoose: (text: string) => void }) {
  const known = group.choices
    .filter((choice) => choice.known !== undefined)
    .map((choice) => ({ choice, tables: tablesIn(choice.parts ?? choice.known) }));
  const others = known.flatMap(({ choice }) => othersOf(choice));
  if (known.length === 0) return <p className="field-hint">There is no value yet.</p>;
  return (
    <>
      {known.flatMap(({ choice, tables }) =>
        tables.map((table) => (
          <JsonTable
            key={`${choice.text} ${table.path.join(' ')}`}
            table={table}
            name={[choice.label, ...table.path].join(' › ')}
            variableOf={(at, column) =>
              `{{ ${rootOf(choice)}${table.path.map(toPath).join('')}[${at}]${toPath(column)} }}`
            }
            onChoose={onChoose}
          />
        )),
      )}
      {others.length > 0 && (
        <JsonTable
          table={{ path: [], columns: ['Name', 'Value'], rows: others }}
          name={group.heading}
          isPlain
          variableOf={(at) => others[at]!.variable}
          onChoose={onChoose}
        />
      )}
    </>
  );
}

function rootOf({ root, text }: VariableChoice): string {
  return root ?? text.slice(3, -3);
}

/** Returns a row for each part of the value that no table of its own shows. */
function othersOf(choice: VariableChoice): { Name: string; Value: unknown; variable: string }[] {
  return partsOutsideTables(choice.parts ?? choice.known).map(({ path, value }) =>
    path.length === 0
      ? { Name: choice.label, Value: choice.known, variable: choice.text }
      : {
          Name: [choice.label, ...path].join(' › '),
          Value: value,
          variable: `{{ ${rootOf(choice)}${path.map(toPath).join('')} }}`,
        },
  );
}

function Text({ group }: { group: VariableGroup }) {
  const known = group.choices.filter((choice) => choice.known !== undefined);
  if (known.length === 0) return <p className="field-hint">There is no value yet.</p>;
  const entries = known.map((choice) => [readPath(choice.text).at(-1) ?? choice.label, choice.known]);
  const text = toText(Object.fromEntries(entries));
  return (
    <>
      <pre className="incoming-json">{partOf(text).text}</pre>
      <CopyButton text={text} label="Copy" />
    </>
  );
}
