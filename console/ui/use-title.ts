import { useEffect } from 'react';

/** The title of the window while the component is there. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Workflow automation`;
  }, [title]);
}
