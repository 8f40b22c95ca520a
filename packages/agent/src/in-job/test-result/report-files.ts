// The files that the test program writes. A file of an earlier run says nothing about this one.

import { stat } from 'node:fs/promises'
import { findFiles } from '../../artifacts/find.ts'
import type { FoundFile } from '../../artifacts/find.ts'

type Marks = ReadonlyMap<string, string>

interface Reports {
  written: FoundFile[]
  /** Names of files that match, and are as they were. */
  old: string[]
}

export async function markFiles(patterns: readonly string[], folder: string): Promise<Marks> {
  const files = await findFiles(patterns.join('\n'), folder)
  return new Map(
    await Promise.all(
      files.map(async ({ absolutePath }) => [absolutePath, await markOf(absolutePath)] as const),
    ),
  )
}

/** Those that are new or changed since they were marked. */
export async function findReports(
  patterns: readonly string[],
  folder: string,
  before: Marks,
): Promise<Reports> {
  const reports: Reports = { written: [], old: [] }
  for (const file of await findFiles(patterns.join('\n'), folder)) {
    if (before.get(file.absolutePath) === (await markOf(file.absolutePath))) reports.old.push(file.path)
    else reports.written.push(file)
  }
  return reports
}

async function markOf(path: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
  return [ino, size, mtimeNs, ctimeNs].join(' ')
}
