import { useState } from 'react';
import { QueryPlaceholder } from '../../service/problem.js';
import { useActionsOf } from '../../service/services.js';
import { SearchField } from '../../ui/fields.js';
import { Note } from '../../ui/notices.js';
import './services.css';

/** A service may have thousands of actions. The search finds those that are not shown. */
const SHOWN = 50;

/** The actions of a service, with a search. */
export function ServiceActions({ serviceId }: { serviceId: string }) {
  const [search, setSearch] = useState('');
  const query = useActionsOf(serviceId, search, SHOWN);
  const { items = [], total = 0 } = query.data ?? {};
  return (
    <section className="service-actions" aria-label="Actions">
      <SearchField label="Search actions" value={search} onChange={setSearch} />
      <QueryPlaceholder {...query} />
      {query.data !== undefined && items.length === 0 && <Note>No action is called like this.</Note>}
      {/* Focusable, so that keyboard users can scroll it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul className="service-actions-list" aria-label="Actions of the service" tabIndex={0}>
        {items.map(({ id, title, method, path, has_side_effects: hasSideEffects }) => (
          <li key={id}>
            <span className="service-actions-title">{title}</span>
            <span className="service-actions-place">
              {method} {path}
              {hasSideEffects && ' · changes something'}
            </span>
          </li>
        ))}
      </ul>
      {total > items.length && <p className="field-hint">{`${total - items.length} more are found by the search.`}</p>}
    </section>
  );
}
