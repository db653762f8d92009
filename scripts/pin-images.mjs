// `npm run images:pin`: writes the digest of each foreign image after its tag, in docker-compose.yml and Dockerfile,
// so that later pulls get the same bytes or fail. It asks the registries with `docker buildx imagetools`. Run it again
// to update to the current tags.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Patterns of image names, by file. Images and build stages of this repository are in no registry. */
const PLACES = {
  'docker-compose.yml': /^( +image: )(?!workflow-automation)([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?$/gm,
  Dockerfile: /^(FROM )([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?= AS )/gm,
};

const digests = new Map();
const pinned = Object.entries(PLACES).map(([file, pattern]) => {
  const text = readFileSync(file, 'utf8');
  return [file, text.replaceAll(pattern, (_, before, image) => `${before}${image}@${digestOf(image)}`)];
});
// Write only after every registry has answered.
for (const [file, text] of pinned) writeFileSync(file, text);
for (const [image, digest] of digests) console.log(`${image} ${digest}`);

function digestOf(image) {
  if (!digests.has(image)) {
    const args = ['buildx', 'imagetools', 'inspect', image, '--format', '{{.Manifest.Digest}}'];
    const digest = execFileSync('docker', args, { encoding: 'utf8' }).trim();
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`docker told no digest of ${image}: ${digest}`);
    digests.set(image, digest);
  }
  return digests.get(image);
}
