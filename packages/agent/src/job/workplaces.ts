// The private files of jobs: a named pipe for the output of each job, and one socket for all jobs of this process. They are
// in one folder of the process, because most jobs need no other file. `mkfifo` is a process, so it makes many pipes at once.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { listenForJobs } from '../sockets/job-socket.ts'
import type { JobSocket, JobSockets } from '../sockets/job-socket.ts'

/** Prepared in advance, because nothing in it depends on the job. */
export interface Workplace {
  /** The folder of the process, which the job reaper deletes when the process is killed. */
  root: string
  /** For one job only. */
  pipe: string
  socket: JobSocket
  /** A cleaner of temporary files may have deleted the files. */
  isThere(): boolean
  /** A folder of the job. The first call makes it. */
  makeFolder(): string
  clear(): Promise<void>
}

export interface Workplaces {
  prepare(): Promise<Workplace>
  /** Deletes all files. */
  close(): Promise<void>
}

/** Makes nothing before the first call of `prepare`. */
export function openWorkplaces(pipesAtOnce: number): Workplaces {
  const folders: string[] = []
  let root: Promise<Root> | null = null

  async function findRoot(): Promise<Root> {
    for (;;) {
      const opening = (root ??= makeRoot(pipesAtOnce))
      const found = await opening.catch((error: unknown) => {
        if (root === opening) root = null
        throw error
      })
      if (existsSync(found.sockets.path)) return found
      if (root !== opening) continue
      // The folder stays until the end, since running jobs may have files in it.
      folders.push(found.folder)
      found.sockets.close()
      root = null
    }
  }

  return {
    async prepare() {
      const found = await findRoot()
      return workplaceIn(found, await found.takePipe())
    },
    async close() {
      const last = await root?.catch(() => null)
      last?.sockets.close()
      await Promise.all([...folders, ...(last ? [last.folder] : [])].map(deleteFolder))
    },
  }
}

interface Root {
  folder: string
  sockets: JobSockets
  takePipe(): Promise<string>
}

async function makeRoot(pipesAtOnce: number): Promise<Root> {
  const folder = await mkdtemp(join(tmpdir(), 'mr-job-'))
  const pipes: string[] = []
  let made = 0
  let making: Promise<void> | null = null

  async function makePipes(): Promise<void> {
    const paths = Array.from({ length: pipesAtOnce }, (_, index) => join(folder, `output-${made + index}`))
    made += pipesAtOnce
    await run('mkfifo', ['-m', '600', ...paths])
    pipes.push(...paths)
  }

  try {
    await makePipes()
    const sockets = await listenForJobs(folder)
    return {
      folder,
      sockets,
      async takePipe() {
        for (;;) {
          for (let pipe = pipes.pop(); pipe !== undefined; pipe = pipes.pop()) {
            if (existsSync(pipe)) return pipe
          }
          making ??= makePipes().finally(() => {
            making = null
          })
          await making
        }
      },
    }
  } catch (error) {
    await deleteFolder(folder)
    throw error
  }
}

function workplaceIn({ folder: root, sockets }: Root, pipe: string): Workplace {
  const socket = sockets.add()
  let folder: string | null = null
  return {
    root,
    pipe,
    socket,
    isThere: () => existsSync(pipe) && existsSync(socket.path),
    makeFolder: () => (folder ??= mkdtempSync(join(root, 'job-'))),
    async clear() {
      socket.close()
      if (folder !== null) await deleteFolder(folder)
    },
  }
}

const run = promisify(execFile)

const deleteFolder = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 3 })
