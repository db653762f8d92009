import { Button } from './button.js';
import './pager.css';

interface PagerProps {
  /** Of the service's list envelope; the first page is 1. */
  page: number;
  size: number;
  total: number;
  onPage: (page: number) => void;
}

/** Nothing where everything is on one page. */
export function Pager({ page, size, total, onPage }: PagerProps) {
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1 && page === 1) return null;
  return (
    <nav className="pager" aria-label="Pages">
      <Button disabled={page <= 1} onClick={() => onPage(Math.min(page - 1, pages))}>
        Previous page
      </Button>
      <span>
        Page {page} of {pages}
      </span>
      <Button disabled={page >= pages} onClick={() => onPage(page + 1)}>
        Next page
      </Button>
    </nav>
  );
}
