// Plugins are folders with hooks: fetched by git before the checkout, or part of the repository itself.

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, relative, resolve } from 'node:path'
import { canonicalPluginSource } from '@millrace/engine/plugin-source.ts'
import { JobFailure } from './failure.ts'
import { runsCommand } from './git.ts'
import { mustGit } from './git-process.ts'
import { runHooks } from './hooks.ts'
import type { JobRun } from './run.ts'

interface PluginReference {
  /** Canonical, without the version. */
  source: string
  version: string
  config: unknown
}

/** Plugins that do not need the checkout. */
export async function loadPlugins(run: JobRun): Promise<void> {
  const plugins = readPlugins(run.env['BUILDKITE_PLUGINS'] ?? '')
  await load(
    run,
    plugins.filter((plugin) => !isInRepository(plugin)),
  )
}

/** Plugins in the checkout. */
export async function loadRepositoryPlugins(run: JobRun): Promise<void> {
  const plugins = readPlugins(run.env['BUILDKITE_PLUGINS'] ?? '')
  await load(run, plugins.filter(isInRepository))
}

export function readPlugins(json: string): PluginReference[] {
  if (json.trim() === '') return []
  let entries: unknown
  try {
    entries = JSON.parse(json)
  } catch {
    throw new JobFailure('BUILDKITE_PLUGINS is no JSON')
  }
  if (!Array.isArray(entries)) throw new JobFailure('BUILDKITE_PLUGINS is no list')
  return entries.flatMap((entry: unknown): PluginReference[] => {
    if (typeof entry === 'string') return [referTo(entry, null)]
    if (typeof entry !== 'object' || entry === null)
      throw new JobFailure('BUILDKITE_PLUGINS has an odd entry')
    return Object.entries(entry).map(([name, config]) => referTo(name, config))
  })
}

/** `docker-compose` for `github.com/buildkite-plugins/docker-compose-buildkite-plugin`. */
export function pluginName({ source }: PluginReference): string {
  return basename(source.replace(/[\\/]+$/, ''))
    .replace(/\.git$/, '')
    .replace(/-buildkite-plugin$/, '')
}

/** `{a: {b: [true]}}` becomes `BUILDKITE_PLUGIN_<NAME>_A_B_0=true`. */
export function pluginVariables(plugin: PluginReference): Record<string, string> {
  const prefix = `BUILDKITE_PLUGIN_${shout(pluginName(plugin))}`
  const variables: Record<string, string> = {
    BUILDKITE_PLUGIN_NAME: shout(pluginName(plugin)),
    BUILDKITE_PLUGIN_CONFIGURATION: JSON.stringify(plugin.config ?? {}),
  }
  const flatten = (name: string, value: unknown): void => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) flatten(`${name}_${index}`, item)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) flatten(`${name}_${shout(key)}`, item)
    } else if (name !== prefix && value !== null && value !== undefined) variables[name] = scalarText(value)
  }
  flatten(prefix, plugin.config)
  return variables
}

async function load(run: JobRun, plugins: readonly PluginReference[]): Promise<void> {
  if (plugins.length === 0) return
  if (!run.settings.plugins) throw new JobFailure('this agent runs no plugins')
  run.log.say('~~~ Loading plugins')
  const before = run.plugins
  const added = []
  for (const plugin of plugins) {
    added.push({ name: pluginName(plugin), path: await folderOf(run, plugin), env: pluginVariables(plugin) })
  }
  run.plugins = added
  await runHooks(run, 'environment', ['plugin'])
  run.plugins = [...before, ...added]
}

async function folderOf(run: JobRun, plugin: PluginReference): Promise<string> {
  const { source } = plugin
  if (isAbsolute(source)) return await mustExist(source)
  if (!isInRepository(plugin)) return await fetchPlugin(run, plugin)
  const folder = resolve(run.checkoutPath, source)
  if (relative(run.checkoutPath, folder).startsWith('..')) {
    throw new JobFailure(`the plugin ${source} lies outside the checkout`)
  }
  return await mustExist(folder)
}

/** Cloned aside and renamed, so that agents that share the folder never see a partial plugin. */
async function fetchPlugin(run: JobRun, plugin: PluginReference): Promise<string> {
  const { source, version } = plugin
  if (version.startsWith('-')) throw new JobFailure(`a plugin's version cannot start with "-": ${version}`)
  const { pluginsPath } = run.settings
  if (runsCommand(source))
    throw new JobFailure(`the plugin ${source} names a command instead of a repository`)
  const folder = join(pluginsPath, pluginFolder(plugin))
  if (version !== '' && (await isFolder(folder))) return folder
  await mkdir(pluginsPath, { recursive: true })
  const fresh = join(pluginsPath, `.fetching-${randomBytes(6).toString('hex')}`)
  try {
    await mustGit(run, ['clone', '-q', '--', repositoryUrl(source), fresh])
    if (version !== '') await mustGit(run, ['-C', fresh, 'checkout', '-q', '-f', version, '--'])
    if (version === '') await rm(folder, { recursive: true, force: true })
    await rename(fresh, folder).catch(async (error: unknown) => {
      // Another agent has installed it.
      if (!(await isFolder(folder))) throw error
    })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return folder
}

/** The name is for people; the hash separates plugins with similar names. */
export function pluginFolder({ source, version }: Pick<PluginReference, 'source' | 'version'>): string {
  const whole = `${source}#${version}`
  const name = whole.replaceAll(/[^A-Za-z0-9.-]+/g, '-').replace(/^[.-]+/, '')
  return `${name.slice(-100)}-${createHash('sha256').update(whole).digest('hex').slice(0, 16)}`
}

function referTo(text: string, config: unknown): PluginReference {
  const canonical = canonicalPluginSource(text)
  const at = canonical.indexOf('#')
  return {
    source: at < 0 ? canonical : canonical.slice(0, at),
    version: at < 0 ? '' : canonical.slice(at + 1),
    config,
  }
}

function isInRepository({ source }: PluginReference): boolean {
  return source.startsWith('.')
}

function repositoryUrl(source: string): string {
  return source.includes(':') ? source : `https://${source}`
}

function shout(text: string): string {
  return text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
}

function scalarText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

async function mustExist(folder: string): Promise<string> {
  if (await isFolder(folder)) return folder
  throw new JobFailure(`there is no plugin at ${folder}`)
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
