// The code of the gallery is loaded when it is first shown, because it includes the drawings of all samples.
import { lazy, Suspense, type ComponentProps } from 'react';
import { ErrorBoundary } from '../../service/problem.js';
import { Loading } from '../../ui/notices.js';
import type { FirstSamples as FirstSamplesShown, Gallery as GalleryShown } from './gallery.js';
import type { GalleryDialog as GalleryDialogShown } from './gallery-dialog.js';

const LazyGallery = lazy(() => import('./gallery.js').then((part) => ({ default: part.Gallery })));
const LazyFirstSamples = lazy(() => import('./gallery.js').then((part) => ({ default: part.FirstSamples })));
const LazyDialog = lazy(() => import('./gallery-dialog.js').then((part) => ({ default: part.GalleryDialog })));

export function Gallery(props: ComponentProps<typeof GalleryShown>) {
  return (
    <ErrorBoundary>
      <Suspense fallback={<Loading />}>
        <LazyGallery {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

export function FirstSamples(props: ComponentProps<typeof FirstSamplesShown>) {
  return (
    <ErrorBoundary>
      <Suspense fallback={<Loading />}>
        <LazyFirstSamples {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

export function GalleryDialog(props: ComponentProps<typeof GalleryDialogShown>) {
  return (
    <ErrorBoundary>
      <Suspense>
        <LazyDialog {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}
