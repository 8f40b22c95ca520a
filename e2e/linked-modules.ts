import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Links the libraries that are installed here, and the packages of the other tree. */
export function linkModules(tree: string): void {
  const ours = '@millrace'
  mkdirSync(join(tree, 'node_modules', ours), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== ours) symlinkSync(join(root, 'node_modules', name), join(tree, 'node_modules', name))
  }
  for (const name of readdirSync(join(tree, 'packages'))) {
    symlinkSync(join(tree, 'packages', name), join(tree, 'node_modules', ours, name))
    const own = join(root, 'packages', name, 'node_modules')
    if (existsSync(own)) symlinkSync(own, join(tree, 'packages', name, 'node_modules'))
  }
}
