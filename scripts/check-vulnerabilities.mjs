// `npm run check:vulnerabilities`: asks the registry for known vulnerabilities of production dependencies. The exit
// code is 1 if there is one. If the registry has no such database or cannot be reached, it prints that and succeeds,
// unless REQUIRE_PROGRAMS=1.
import { spawnSync } from 'node:child_process';

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0'], {
  encoding: 'utf8',
});
const report = parse(stdout ?? '');
const found = report?.metadata?.vulnerabilities;
if (found === undefined) {
  const reason = report?.error?.summary || report?.message || error?.message || 'npm audit answered nothing';
  // Addresses of registries may contain credentials.
  console.log(
    `NOT RUN: the registry did not tell of vulnerabilities (${reason.replaceAll(/\S+:\/\/\S+/g, 'its address')}).`,
  );
  process.exitCode = process.env.REQUIRE_PROGRAMS === '1' ? 1 : 0;
} else if (found.total > 0) {
  for (const { name, severity, via } of Object.values(report.vulnerabilities)) {
    const causes = via.map((cause) => (typeof cause === 'string' ? `by ${cause}` : `${cause.title}, ${cause.url}`));
    console.log(`${severity}: ${name} (${causes.join('; ')})`);
  }
  console.log(`Packages with known vulnerabilities: ${found.total}.`);
  process.exitCode = 1;
} else {
  console.log('No package that production installs has a known vulnerability.');
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
