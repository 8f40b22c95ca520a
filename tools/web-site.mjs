// Whether the web interface in packages/web/dist/site was built from the present sources.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isFresh } from './freshness.mjs'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const stampFile = join(packages, 'web', 'dist', 'site', '.sources')

/** `libraries` names the installed versions. Without sources, as in a production image, any built site is right. */
export function isSiteBuilt(libraries) {
  if (!existsSync(join(packages, 'web', 'src'))) return existsSync(stampFile)
  const files = folders.flatMap((folder) => sourcesOf(folder).map((path) => join(folder, path)))
  return isFresh(stampFile, { files, others: libraries }, () => sourcesHash(libraries))
}

export function markSite(libraries) {
  writeFileSync(stampFile, sourcesHash(libraries))
}

/** The types of the API come from the server's sources, and the pipeline editor runs the engine. */
const folders = ['engine', 'server', 'web'].map((name) => join(packages, name))

function sourcesHash(libraries) {
  const hash = createHash('sha256').update(libraries)
  for (const folder of folders)
    for (const path of sourcesOf(folder)) hash.update(path).update(readFileSync(join(folder, path)))
  return hash.digest('hex')
}

function sourcesOf(folder) {
  const inside = readdirSync(join(folder, 'src'), { recursive: true }).map((path) => join('src', path))
  const beside = ['index.html', 'theme.js', 'vite.config.ts', 'tsconfig.json'].filter((path) =>
    existsSync(join(folder, path)),
  )
  return [...inside, ...beside]
    .filter((path) => /\.(tsx?|js|css|html|svg|json)$/.test(path) && !path.endsWith('operations.ts'))
    .sort()
}
