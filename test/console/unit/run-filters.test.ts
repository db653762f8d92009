import assert from 'node:assert/strict';
import {
  dayOf,
  isFiltered,
  isTyped,
  mergePage,
  PAGE_SIZE,
  readFilters,
  toParams,
  toQuery,
} from '../../../console/pages/runs/run-filters.js';

const filtersOf = (address: string) => readFilters(new URLSearchParams(address));

describe('the filters of the list of runs', () => {
  it('come back from the address as they were written, and leave out what is at its default', () => {
    const address =
      'status=failed&project=3&workflow=7&search=two+words&from=2026-01-31&to=2026-02-01&order=dearest&page=2';
    assert.equal(toParams(filtersOf(address)).toString(), address);
    assert.equal(toParams(filtersOf('order=newest&page=1&status=')).toString(), '');
    assert.equal(isFiltered(filtersOf('order=oldest&page=3')), false);
    assert.equal(isFiltered(filtersOf('search=x')), true);
    assert.equal(toParams(filtersOf('waiting=true')).toString(), 'waiting=true');
    assert.equal(isFiltered(filtersOf('waiting=true')), true);
    assert.equal(toQuery(filtersOf('waiting=true')).waiting, true);
    assert.equal(toParams(filtersOf('waiting=no')).toString(), '');
    assert.equal(toParams(filtersOf('kind=assistant')).toString(), 'kind=assistant');
    assert.equal(toQuery(filtersOf('kind=assistant')).purpose, 'assistant');
  });

  it('are whole days in the time zone of the person', () => {
    const { started_after: after, started_before: before } = toQuery(filtersOf('from=2026-01-31&to=2026-01-31'));
    assert.equal(after, new Date(2026, 0, 31).toISOString());
    assert.equal(before, new Date(2026, 1, 1).toISOString());
    assert.equal(toQuery(filtersOf('from=2026-01-31T10:00:00Z')).started_after, '2026-01-31T10:00:00.000Z');
    const elsewhere = ['2026-01-31T23:30:00-12:00', '2026-01-31T00:30:00+14:00'];
    assert.deepEqual(
      elsewhere.map(dayOf),
      elsewhere.map((time) => new Date(time).toLocaleDateString('sv-SE')),
    );
    assert.deepEqual(['2026-01-31', '2026-13-45', 'soon'].map(dayOf), ['2026-01-31', '', '']);
    // Browsers report this while a year is being typed.
    assert.equal(dayOf('0002-01-31'), '0002-01-31');
  });

  it('are a step of Back, also where all are reset at once, but not while somebody types', () => {
    assert.equal(isTyped({ search: 'gre' }), true);
    assert.equal(isTyped({ status: 'failed' }), false);
    assert.equal(isTyped({ page: 2 }), false);
    assert.equal(isTyped({ ...filtersOf(''), search: '' }), false);
  });

  it('leave out what is no value, so that an old or broken address still lists runs', () => {
    const broken = filtersOf('kind=odd&status=odd&project=x&workflow=-1&from=soon&to=99&order=best&page=0');
    assert.deepEqual(toQuery(broken), { ordering: '-created_at', page: 1, size: PAGE_SIZE });
    assert.equal(toQuery(filtersOf('status=Error')).status, 'Error');
  });
});

describe('a list that is looked at while it changes', () => {
  const rows = (...ids: string[]) => ({ items: ids.map((id) => ({ id, status: 'old' })) });
  const fresh = { items: ['d', 'b', 'c'].map((id) => ({ id, status: 'new' })) };

  it('keeps its rows in their places, takes what is new about them, and counts further ones', () => {
    assert.deepEqual(mergePage(rows('a', 'b', 'c'), fresh), {
      rows: [
        { id: 'a', status: 'old' },
        { id: 'b', status: 'new' },
        { id: 'c', status: 'new' },
      ],
      newCount: 1,
    });
  });

  it('is what is fresh where nothing was shown', () => {
    assert.deepEqual(mergePage(undefined, fresh), { rows: fresh.items, newCount: 0 });
    assert.deepEqual(mergePage(rows(), fresh), { rows: fresh.items, newCount: 0 });
  });
});
