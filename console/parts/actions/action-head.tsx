import type { UseQueryResult } from '@tanstack/react-query';
import { use } from 'react';
import { ServiceIcon } from '../../drawing/service-icon.js';
import { FormContext } from '../../forms/form.js';
import type { Path } from '../../forms/schema.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { Problem } from '../../service/problem.js';
import { useServiceName, type Action } from '../../service/services.js';
import { Button } from '../../ui/button.js';
import { asText } from '../../ui/json.js';
import './actions.css';

/** The facts of an action that a form shows, as the service returns them or as the node has stored them. */
interface ShownFacts {
  title: string | undefined;
  method: string | undefined;
  server: string | undefined;
  path: string | undefined;
  description: string | undefined;
  fields: JsonObject | undefined;
}

export function factsOf({ title, method, server, path, description, fields }: Action | JsonObject): ShownFacts {
  return {
    title: asText(title),
    method: asText(method),
    server: asText(server),
    path: asText(path),
    description: asText(description),
    fields: isObject(fields) ? fields : undefined,
  };
}

/** The letter of the service, its name and the title of the action. */
export function ActionHead({ projectId, serviceId, title }: { projectId: number; serviceId: string; title: string }) {
  const name = useServiceName(projectId, serviceId);
  return (
    <p className="action-head">
      <ServiceIcon id={serviceId} name={name} />
      <span>
        {name}: <span className="action-name">{title}</span>
      </span>
    </p>
  );
}

const GONE = { 404: 'There is no such action here. What a node has stored of it still runs.' };

interface ActionProblemProps {
  action: UseQueryResult<Action>;
  /** Where problems of the action are reported. */
  paths: readonly Path[];
  /**
   * Marks the action, so that the service replaces its stored facts by current ones. Undefined if no facts are stored,
   * or the action is marked already.
   */
  onRefresh: (() => void) | undefined;
}

/** Shows why the action cannot be read, or the problems that the check of the drawing has found in the action. */
export function ActionProblem({ action, paths, onRefresh }: ActionProblemProps) {
  const { errors, isReadOnly } = use(FormContext);
  const found = paths.flatMap((path) => errors.get(path.join('.')) ?? []);
  if (action.error === null)
    return (
      <>
        {found.map((message) => (
          <p key={message} className="field-error">
            {message}
          </p>
        ))}
        {found.length > 0 && onRefresh !== undefined && !isReadOnly && (
          <Button className="action-leave" onClick={onRefresh}>
            Take what the service says now
          </Button>
        )}
      </>
    );
  return (
    <Problem
      error={action.error}
      sentences={GONE}
      onRetry={() => void action.refetch()}
      isRetrying={action.isFetching}
    />
  );
}
