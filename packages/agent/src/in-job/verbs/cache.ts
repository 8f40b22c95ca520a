// Caches that a command of the job saves and restores, by a key. As with the cache of a step, a failure fails nothing: it is said,
// and the command exits with 0.

import * as caches from '../../api/caches.ts'
import { findLocations } from '../../cache/locations.ts'
import type { CacheLocation } from '../../cache/locations.ts'
import { Damaged } from '../../cache/manifest.ts'
import { platform } from '../../cache/platform.ts'
import { restore } from '../../cache/restore.ts'
import { save } from '../../cache/save.ts'
import { readableCount, readableSize, secondsSince } from '../../cache/sizes.ts'
import { Exit, JOB } from '../verb.ts'
import type { Flag, Flags, Io, Verb, VerbCall } from '../verb.ts'

const KEYED: Readonly<Record<string, Flag>> = {
  job: JOB,
  key: { kind: 'text', summary: 'What identifies the contents, such as a name with a checksum' },
}

const saveVerb: Verb = {
  name: 'cache save',
  usage: '--key <key> <paths…>',
  summary:
    'Save files under a key for later jobs of this branch. A key that is saved already stays as it is.',
  flags: KEYED,
  run: (call) =>
    orSay(call.io, 'The cache is not saved', async () => {
      const { key, paths, locations, job } = read(call)
      const startMs = performance.now()
      const api = call.api()
      const { branch, cache, save: rule } = await lookUp(call, [])
      if (cache?.key === key && cache.branch === branch)
        return call.io.print(`The cache "${key}" of branch ${branch} is there already.\n`)
      if (!rule.allowed) return call.io.print(`The cache is not saved: ${rule.reason}.\n`)
      const saved = await save(api, {
        jobId: job,
        key: { key, paths },
        locations,
        mostBytes: rule.most_bytes,
        restored: null,
      })
      if (saved.kind !== 'saved') return call.io.print('There is nothing to save.\n')
      const { files, bytes, sentBytes, leftOut } = saved
      call.io.print(
        `Saved the cache "${key}": ${readableCount(files, 'file')}, ${readableSize(bytes)}; ${readableSize(sentBytes)} sent in ${secondsSince(startMs)}.\n`,
      )
      if (leftOut > 0) call.io.print(`Sockets, pipes and devices are not cached: ${leftOut} left out.\n`)
    }),
}

const restoreVerb: Verb = {
  name: 'cache restore',
  usage: '--key <key> [--restore-key <prefix>…] <paths…>',
  summary: 'Restore the files that were saved under a key; a cache that is missing is no failure.',
  flags: {
    ...KEYED,
    'restore-key': {
      kind: 'list',
      summary: 'When no cache has the key: the newest whose key begins so. The first that finds one counts',
    },
  },
  run: (call) =>
    orSay(call.io, 'The cache is not restored', async () => {
      const { key, locations, job } = read(call)
      const startMs = performance.now()
      const { cache } = await lookUp(call, call.flags.list('restore-key'))
      if (cache === null) return call.io.print(`There is no cache "${key}".\n`)
      const api = call.api()
      const restored = await restore(api, cache, locations).catch(async (error: unknown) => {
        if (error instanceof Damaged) await caches.reportDamage(api, job, error.digest).catch(() => {})
        throw error
      })
      call.io.print(
        `Restored the cache "${cache.key ?? key}" of branch ${cache.branch}: ${readableCount(restored.files, 'file')}, ${readableSize(restored.bytes)}; ${readableSize(restored.received)} received in ${secondsSince(startMs)}.\n`,
      )
    }),
}

export const cacheVerbs = [saveVerb, restoreVerb]

interface Asked {
  key: string
  paths: string[]
  locations: CacheLocation[]
  job: string
}

function read({ args, flags, io }: VerbCall): Asked {
  const key = flags.need('key')
  if (args.length === 0) throw new Exit(1, 'The paths are missing.')
  const surroundings = {
    checkoutPath: io.env['BUILDKITE_BUILD_CHECKOUT_PATH'] ?? io.cwd,
    home: io.env['HOME'] ?? '/root',
  }
  const { locations, leftOut } = findLocations(args, surroundings)
  for (const { path, reason } of leftOut) io.printError(`${path}: ${reason}`)
  if (locations.length === 0) throw new Exit(1, 'None of the paths can be cached.')
  return { key, paths: [...args], locations, job: flags.need('job') }
}

async function lookUp({ args, flags, api }: VerbCall, restoreKeys: readonly string[]) {
  const given = { key: need(flags, 'key'), paths: [...args], restore_keys: [...restoreKeys] }
  const answer = await caches.restoreCache(api(), need(flags, 'job'), { platform, ...given })
  if (answer.branch === undefined) throw new Error('this server has no caches with keys')
  return answer
}

const need = (flags: Flags, name: string): string => flags.need(name)

async function orSay(io: Io, what: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    // A mistake in the command line.
    if (error instanceof Exit) throw error
    io.print(`${what}: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}
