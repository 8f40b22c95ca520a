// A file system of limited size that can be filled and emptied. It is in memory, and needs the right to mount.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export class SmallDisk {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Mounts it at a new folder. */
  static mount(path: string, sizeMb: number): SmallDisk {
    mkdirSync(path)
    const problem = mountAt(path, sizeMb)
    if (problem !== null) throw new Error(problem)
    return new SmallDisk(path)
  }

  /** Takes all room that is left. */
  fill(): void {
    const file = openSync(join(this.path, ballast), 'a')
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 4)) while (writes(file, size));
    closeSync(file)
  }

  empty(): void {
    rmSync(join(this.path, ballast), { force: true })
  }

  unmount(): void {
    spawnSync('umount', ['--lazy', this.path])
  }
}

const ballast = 'ballast'

function writes(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) > 0
  } catch {
    return false
  }
}

function mountAt(path: string, sizeMb: number): string | null {
  const args = ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0755`, 'tmpfs', path]
  const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8' })
  return status === 0 ? null : (error?.message ?? stderr.trim())
}

/** Why no disk can be mounted here; null: one can. */
export function whyNoDisk(folder: string): string | null {
  const path = mkdtempSync(join(folder, 'millrace-disk-'))
  const problem = mountAt(path, 1)
  if (problem === null) spawnSync('umount', [path])
  rmSync(path, { recursive: true, force: true })
  return problem
}
