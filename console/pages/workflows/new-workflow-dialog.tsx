import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { isZeroDecimal } from '../../../graph/decimal.js';
import { api, unwrap } from '../../service/api.js';
import { explain, fieldErrors, isNotFound } from '../../service/explain.js';
import { isWritable, projectToWriteTo, useProjects } from '../../service/projects.js';
import { submitHandler } from '../../service/queries.js';
import { MASK } from '../../../graph/mask-text.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { Gallery } from '../../parts/gallery/lazy-gallery.js';
import type { Sample } from '../../parts/gallery/sample.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { Alert } from '../../ui/notices.js';

interface NewWorkflowDialogProps {
  /** Id of the project that the list shows; empty if it shows all. */
  project: string;
  onClose: () => void;
}

const FIELDS = ['title', 'project'];

/** Value of the option for the chosen workflow of the gallery. */
const GALLERY = 'gallery';

export function NewWorkflowDialog({ project, onClose }: NewWorkflowDialogProps) {
  const [title, setTitle] = useState('');
  const [chosenProject, setChosenProject] = useState<string>();
  const [chosenTemplate, setChosenTemplate] = useState('');
  const [sample, setSample] = useState<Sample>();
  const [isGalleryOpen, setIsGalleryOpen] = useState(false);
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const projects = (useProjects().data ?? []).filter(isWritable);
  const found = useQuery({ queryKey: ['workflows', 'templates'], queryFn: readTemplates });
  const { data: templates = [] } = found;
  const options = projects.map(({ id, name }) => ({ value: String(id), label: name }));
  const preset = options.some(({ value }) => value === project) ? project : (options[0]?.value ?? '');
  const create = useMutation({
    mutationFn: async () => {
      const template = templates.find(({ key }) => key === chosenTemplate) ?? EMPTY;
      const made = { title: title.trim(), data: sample?.drawing ?? (await template.read()), isChat: sample?.isChat };
      const id = await createWorkflow(await projectToWriteTo(chosenProject ?? preset), made);
      void queries.invalidateQueries({ queryKey: ['workflows'] });
      void queries.invalidateQueries({ queryKey: ['projects'] });
      navigate(`/workflows/${id}`);
    },
  });
  const errors = fieldErrors(create.error);
  // Problems in a template's drawing have no field here.
  const isShownAtFields = Object.keys(errors).length > 0 && Object.keys(errors).every((name) => FIELDS.includes(name));
  return (
    <Dialog title="New workflow" isWide={isGalleryOpen} holdsText onClose={onClose}>
      <form className="new-workflow" onSubmit={submitHandler(create)}>
        <TextField label="Title" value={title} onChange={setTitle} isRequired maxLength={255} error={errors['title']} />
        <SelectField
          label="Project"
          value={chosenProject ?? preset}
          options={options.length === 0 ? [{ value: '', label: 'My workflows (a new project)' }] : options}
          onChange={setChosenProject}
          error={errors['project']}
        />
        <SelectField
          label="Start from"
          value={sample === undefined ? chosenTemplate : GALLERY}
          options={[
            ...[EMPTY, ...templates].map(({ key, label }) => ({ value: key, label })),
            ...(sample === undefined ? [] : [{ value: GALLERY, label: `Gallery: ${sample.title}` }]),
          ]}
          onChange={(key) => {
            setSample(undefined);
            setChosenTemplate(key);
          }}
        />
        {isGalleryOpen ? (
          <div className="new-workflow-gallery">
            <Gallery
              chosen={sample?.name ?? ''}
              onUse={(used) => {
                setSample(used);
                if (title.trim() === '' || title === sample?.title) setTitle(used.title);
              }}
            />
          </div>
        ) : (
          <Button onClick={() => setIsGalleryOpen(true)}>From the gallery</Button>
        )}
        {found.isError && (
          <Alert onRetry={() => void found.refetch()} isRetrying={found.isFetching}>
            There is only an empty drawing to start from. {explain(found.error)}
          </Alert>
        )}
        {create.error !== null && !isShownAtFields && <Alert>{explain(create.error)}</Alert>}
        <Button type="submit" variant="primary" isBusy={create.isPending}>
          Create
        </Button>
      </form>
    </Dialog>
  );
}

// A new workflow starts empty, from a sample of the gallery, as a copy of a workflow that the person can see, or from
// the latest example of a free marketplace workflow.

interface Template {
  /** Unique; value of the select option. */
  key: string;
  label: string;
  read: () => Promise<JsonObject>;
}

const EMPTY_DRAWING = { nodes: [], edges: [], viewport: { x: 0, y: 0, zoom: 1 } };

const EMPTY: Template = { key: '', label: 'An empty drawing', read: () => Promise.resolve(EMPTY_DRAWING) };

async function readTemplates(): Promise<Template[]> {
  const [own, published] = await Promise.all([ownTemplates(), marketplaceTemplates()]);
  return [...published, ...own];
}

async function ownTemplates(): Promise<Template[]> {
  const { items } = await unwrap(api.GET('/api/v1/all-workflows/', { params: { query: { size: 50 } } }));
  return items.map(({ id, title }) => ({
    key: `workflow-${id}`,
    label: `Copy of ${title}`,
    read: async () => (await unwrap(api.GET('/api/v1/workflows/{id}/', { params: { path: { id } } }))).data,
  }));
}

/** Offers free workflows only. Copying one with a fee requires the marketplace's own button. */
async function marketplaceTemplates(): Promise<Template[]> {
  const { items } = await unwrap(api.GET('/api/v1/workflows/marketplace/', { params: { query: { size: 20 } } }));
  const free = items.filter(({ run_fee: fee }) => isZeroDecimal(fee));
  const found = await Promise.all(
    free.map(async ({ slug, market_title: title }): Promise<Template[]> => {
      const params = { path: { slug } };
      const [example] = await unwrap(api.GET('/api/v1/workflows/marketplace/{slug}/examples/', { params })).catch(
        orNone,
      );
      if (example === undefined) return [];
      const one = { path: { slug, run_id: example.id } };
      const read = async (): Promise<JsonObject> =>
        (await unwrap(api.GET('/api/v1/workflows/marketplace/{slug}/examples/{run_id}/', { params: one }))).data;
      return [{ key: `marketplace-${slug}`, label: `Marketplace: ${title}`, read }];
    }),
  );
  return found.flat();
}

/** Skips a workflow that was unpublished in the meantime. */
function orNone(error: unknown): [] {
  if (isNotFound(error)) return [];
  throw error;
}

interface MadeWorkflow {
  title: string;
  data: JsonObject;
  isChat: boolean | undefined;
}

/**
 * Creates a workflow and returns its id. Clears masked secrets, because the new workflow has no stored
 * secrets for them.
 */
async function createWorkflow(project: number, { title, data, isChat = false }: MadeWorkflow): Promise<number> {
  const body = { project, title, data: withoutMasks(data) as JsonObject, is_chat: isChat };
  const { id } = await unwrap(api.POST('/api/v1/workflows/', { body }));
  return id;
}

function withoutMasks(value: unknown): unknown {
  if (value === MASK) return '';
  if (Array.isArray(value)) return value.map(withoutMasks);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutMasks(part)]));
}
