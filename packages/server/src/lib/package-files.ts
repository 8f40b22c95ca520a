// Finds files of this package by the package's name. `import.meta.url` will not do: in the bundle it is a file of the cli.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const manifest = createRequire(import.meta.url).resolve('@millrace/server/package.json')

export const packageFolder = dirname(manifest)

/** Resolves a dependency of this package. */
export const resolveDependency = createRequire(manifest).resolve

/** The compiled form of a file in `src`, for code that runs in a thread. */
export const compiledModule = (source: `${string}.ts`): URL =>
  pathToFileURL(join(packageFolder, 'dist', source.replace(/ts$/, 'js')))

/** The built web interface. null: it was not built. */
export function siteFolder(): string | null {
  const folder = join(dirname(resolveDependency('@millrace/web/package.json')), 'dist', 'site')
  return existsSync(join(folder, 'index.html')) ? folder : null
}
