// Whether the web interface in packages/web/dist/site was built from the present sources.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const stampFile = join(packages, 'web', 'dist', 'site', '.sources')

/** `libraries` names the installed versions. Without sources, as in a production image, any built site is right. */
export function isSiteBuilt(libraries) {
  if (!existsSync(stampFile)) return false
  if (!existsSync(join(packages, 'web', 'src'))) return true
  return readFileSync(stampFile, 'utf8') === sourcesHash(libraries)
}

export function markSite(libraries) {
  writeFileSync(stampFile, sourcesHash(libraries))
}

/** The types of the API come from the server's sources, and the pipeline editor runs the engine. */
function sourcesHash(libraries) {
  const hash = createHash('sha256').update(libraries)
  for (const name of ['engine', 'server', 'web']) {
    const folder = join(packages, name)
    const inside = readdirSync(join(folder, 'src'), { recursive: true }).map((path) => join('src', path))
    const beside = ['index.html', 'theme.js', 'vite.config.ts', 'tsconfig.json'].filter((path) =>
      existsSync(join(folder, path)),
    )
    const files = [...inside, ...beside].filter(
      (path) => /\.(tsx?|js|css|html|svg|json)$/.test(path) && !path.endsWith('operations.ts'),
    )
    for (const path of files.sort()) hash.update(path).update(readFileSync(join(folder, path)))
  }
  return hash.digest('hex')
}
