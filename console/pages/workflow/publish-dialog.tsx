import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { fieldErrors } from '../../service/explain.js';
import { FailedChoices, Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { CheckboxField, SearchField, SelectField, TextField } from '../../ui/fields.js';
import { announce } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import { useLanguages } from '../../service/languages.js';
import { publishWorkflow, unpublishWorkflow, type Saver } from './saver.js';

/** Edits the marketplace texts, selects the run whose drawing is published, and publishes. */
export function PublishDialog({ saver, onClose }: { saver: Saver; onClose: () => void }) {
  const { workflow } = useStored(saver, (state) => state);
  const { id } = workflow;
  const [texts, setTexts] = useState(() => ({
    market_title: workflow.market_title || workflow.title,
    short_description: workflow.short_description,
    readme_guide: workflow.readme_guide,
    available_languages: workflow.available_languages,
  }));
  const [chosenRun, setChosenRun] = useState<string>();
  const queries = useQueryClient();
  const runs = useSucceededRuns(id);
  const template = chosenRun ?? runs.template ?? '';
  const noneLabel = runs.options.length === 0 ? 'No run has succeeded yet' : 'Choose…';
  const publish = useMutation({
    mutationFn: async () => {
      await saver.changeDetails(texts);
      if (chosenRun !== undefined) await markTemplate(id, chosenRun);
      saver.adoptUnconditional(await publishWorkflow(id));
      await queries.invalidateQueries({ queryKey: ['workflow', id, 'succeeded-runs'] });
      announce('Published');
    },
  });
  const unpublish = useMutation({
    mutationFn: async () => {
      saver.adoptUnconditional(await unpublishWorkflow(id));
      announce('Unpublished');
    },
  });
  const errors = fieldErrors(publish.error);
  const error = publish.error ?? unpublish.error;
  const field = (key: 'market_title' | 'short_description' | 'readme_guide') => ({
    value: texts[key],
    onChange: (value: string) => setTexts({ ...texts, [key]: value }),
    error: errors[key],
  });
  return (
    <Dialog title="Publish" isWide holdsText onClose={onClose}>
      <TextField label="Marketplace title" isRequired maxLength={255} {...field('market_title')} />
      <TextField label="Short description" isRequired rows={2} maxLength={1000} {...field('short_description')} />
      <TextField
        label="Guide"
        rows={6}
        hint="How to use it, in Markdown. Leave credentials out of addresses and bodies: they are published as they are."
        {...field('readme_guide')}
      />
      <LanguageBoxes
        chosen={texts.available_languages}
        error={errors['available_languages']}
        onChange={(codes) => setTexts({ ...texts, available_languages: codes })}
      />
      <SelectField
        label="Template run"
        hint="A run that has succeeded: its drawing, as it ran, is what others get."
        isRequired
        value={template}
        // A run that was chosen can be replaced, but not taken back: the service would publish the one that is marked.
        options={template === '' ? [{ value: '', label: noneLabel }, ...runs.options] : runs.options}
        onChange={setChosenRun}
      />
      <FailedChoices noun="runs" query={runs.query} />
      <Problem error={error} />
      {workflow.is_published && workflow.slug !== null && (
        <p>
          Published: <Link href={`/marketplace/${workflow.slug}`}>see it on the marketplace</Link>.
        </p>
      )}
      <div className="node-form-foot">
        {workflow.is_published && (
          <Button isBusy={unpublish.isPending} onClick={() => unpublish.mutate()}>
            Unpublish
          </Button>
        )}
        <Button variant="primary" isBusy={publish.isPending} onClick={() => publish.mutate()}>
          Publish
        </Button>
      </div>
    </Dialog>
  );
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

function useSucceededRuns(id: number) {
  const runs = useQuery({
    queryKey: ['workflow', id, 'succeeded-runs'],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { ordering: '-created_at' as const, size: 100 } };
      const { items } = await unwrap(api.GET('/api/v1/workflows/{id}/history/', { params, signal }));
      return items.filter(({ status, results_expired_at: expired }) => status === 'Succeeded' && expired === undefined);
    },
  });
  const items = runs.data ?? [];
  return {
    query: runs,
    template: items.find((run) => run.use_as_marketplace_template)?.id,
    options: items.map((run) => ({ value: run.id, label: MOMENT.format(new Date(run.created_at)) })),
  };
}

interface LanguageBoxesProps {
  chosen: readonly string[];
  error: string | undefined;
  onChange: (codes: string[]) => void;
}

/** The most spoken languages, shown with the selected ones until somebody searches. */
const FIRST = new Set(['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'pt', 'ru', 'zh']);

function LanguageBoxes({ chosen, error, onChange }: LanguageBoxesProps) {
  const [search, setSearch] = useState('');
  const query = useLanguages();
  const { data: languages = [] } = query;
  const wanted = search.trim().toLowerCase();
  const known = new Set(languages.map(({ code }) => code));
  const others = chosen.filter((code) => !known.has(code)).map((code) => ({ code, name: code }));
  const shown = [...languages, ...others].filter(({ code, name }) => {
    if (wanted !== '') return code === wanted || name.toLowerCase().includes(wanted);
    return chosen.includes(code) || FIRST.has(code);
  });
  return (
    <fieldset className="form-group">
      <legend className="form-legend">Languages</legend>
      <FailedChoices noun="languages" query={query} />
      <SearchField label="Search languages" value={search} onChange={setSearch} />
      <div className="form-row">
        {shown.map(({ code, name }) => (
          <CheckboxField
            key={code}
            label={name}
            isChecked={chosen.includes(code)}
            onChange={(isChecked) => onChange(isChecked ? [...chosen, code] : chosen.filter((each) => each !== code))}
          />
        ))}
      </div>
      {error !== undefined && <p className="field-error">{error}</p>}
    </fieldset>
  );
}

/** Marks the run as template. The service clears the mark of the run that had it. */
async function markTemplate(workflowId: number, runId: string): Promise<void> {
  await unwrap(
    api.POST('/api/v1/workflows/{id}/history/{run_id}/toggle-marketplace-use/', {
      params: { path: { id: workflowId, run_id: runId } },
      body: { use_as_marketplace_template: true },
    }),
  );
}
