// Downloads artifacts of a build, several at a time. A file appears whole or not at all, and only below the chosen folder.
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makeFolder, targetPath } from '@millrace/agent/artifacts/target.ts'
import type { Artifact } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { count } from '../../run/counting.ts'
import { Refused } from '../../refused.ts'
import type { Api } from '../api.ts'
import { describeBytes } from '../sizes.ts'
import { oneLine } from '../text.ts'
import { findArtifacts, type ArtifactOptions } from './find.ts'
import { openProgress, type Progress } from './progress.ts'

export interface DownloadOptions extends ArtifactOptions {
  to: string
  byJob?: true
  parallel: number
}

interface Download {
  artifact: Artifact
  /** The path of the file. */
  target: string
}

export async function downloadArtifacts(build: string | undefined, options: DownloadOptions): Promise<void> {
  const { api, name, artifacts } = await findArtifacts(build, options, 'finished')
  if (artifacts.length === 0) {
    const wanted = options.path === undefined ? '' : ` that match ${options.path.join(' or ')}`
    throw new Refused(
      `${oneLine(name)} has no artifacts${wanted}. See all of them with: millrace artifact list ${oneLine(name)}`,
    )
  }
  // All targets are checked before the first file is written.
  const downloads = chooseTargets(artifacts, options)
  const stopped = new AbortController()
  const stop = (): void => stopped.abort()
  process.once('SIGINT', stop)
  const progress = openProgress(downloads.map(({ artifact }) => artifact.file_size))
  const tasks = downloads.values()
  const workers = Array.from({ length: options.parallel }, async () => {
    for (const download of tasks) await fetchFile(api, download, { options, progress, stopped })
  })
  try {
    await Promise.all(workers)
  } catch (error) {
    const wasCanceled = stopped.signal.aborted
    // The first failure ends the other downloads too. They delete their partial files.
    stopped.abort()
    await Promise.allSettled(workers)
    throw wasCanceled ? new Refused('Canceled.') : asRefused(error)
  } finally {
    progress.end()
    process.off('SIGINT', stop)
  }
  const size = downloads.reduce((sum, { artifact }) => sum + artifact.file_size, 0)
  print(
    options,
    downloads.map(({ artifact: { path, file_size, job_id }, target }) => ({
      path,
      file: target,
      file_size,
      job_id,
    })),
    `Downloaded ${count(downloads.length, 'file')}, ${describeBytes(size)}, into ${resolve(options.to)}.`,
  )
}

function chooseTargets(artifacts: readonly Artifact[], { to, byJob }: DownloadOptions): Download[] {
  const targets = new Map<string, Artifact>()
  for (const artifact of artifacts) {
    const path = byJob ? `${artifact.job_id}/${artifact.path}` : artifact.path
    try {
      targets.set(targetPath(path, { folder: process.cwd(), destination: to }), artifact)
    } catch (error) {
      throw new Refused(
        `Nothing was downloaded: ${oneLine(error instanceof Error ? error.message : String(error))}.`,
      )
    }
  }
  if (targets.size < artifacts.length) {
    console.error(
      `${artifacts.length - targets.size} older artifacts have the path of a newer one and are left out. ` +
        'With --by-job every job has a folder of its own.',
    )
  }
  return Array.from(targets, ([target, artifact]) => ({ target, artifact }))
}

interface Run {
  options: DownloadOptions
  progress: Progress
  stopped: AbortController
}

const ATTEMPTS = 3

async function fetchFile(api: Api, download: Download, { options, progress, stopped }: Run): Promise<void> {
  const { artifact, target } = download
  await makeFolder(resolve(options.to), dirname(target))
  // Renaming replaces a link that stands in the way instead of writing through it.
  const part = join(dirname(target), `.download-${randomBytes(6).toString('hex')}`)
  try {
    for (let attempt = 1; ; attempt += 1) {
      const bytes = await readInto(api, artifact, part, { progress, stopped })
      if (bytes === null) break
      progress.add(-bytes)
      if (attempt === ATTEMPTS) {
        throw new Refused(`${oneLine(artifact.path)} arrived incomplete ${ATTEMPTS} times. Try again later.`)
      }
    }
    await rename(part, target)
    progress.finish()
  } finally {
    await rm(part, { force: true })
  }
}

/** null: the file is whole. Otherwise the number of bytes that arrived. */
async function readInto(
  api: Api,
  artifact: Artifact,
  part: string,
  { progress, stopped }: Pick<Run, 'progress' | 'stopped'>,
): Promise<number | null> {
  const { job_id, id, file_size, sha1sum } = artifact
  const { signal } = stopped
  const response = await api.stream(`jobs/${job_id}/artifacts/${id}/download`, {
    signal,
    headers: { Accept: '*/*' },
  })
  const digest = createHash('sha1')
  let bytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      digest.update(chunk)
      progress.add(chunk.length)
      done(null, chunk)
    },
  })
  const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body)
  try {
    await pipeline(body, counter, createWriteStream(part), { signal })
  } catch (error) {
    // A lost connection is worth another attempt, a full disk is not.
    if (signal.aborted || isFileError(error)) throw error
    return bytes
  }
  const isWhole = bytes === file_size && (sha1sum === '' || digest.digest('hex') === sha1sum)
  return isWhole ? null : bytes
}

const isFileError = (error: unknown) => error instanceof Error && 'syscall' in error && 'path' in error

function asRefused(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Refused) return error
  if (error.message.endsWith('is not a folder')) {
    const path = relative(process.cwd(), error.message) || error.message
    return new Refused(`${oneLine(path)}, but an artifact needs one there: choose another with --to.`)
  }
  return isFileError(error) ? new Refused(`A file cannot be written: ${oneLine(error.message)}.`) : error
}
