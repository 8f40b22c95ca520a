import type { Annotation, CreateAnnotation } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { Refused } from '../../refused.ts'
import { findBuild, type BuildOptions } from '../find-build.ts'
import { readInput } from '../prompt.ts'
import { oneLine } from '../text.ts'

export interface AnnotateOptions extends BuildOptions {
  build?: string
  job?: string
  style?: 'success' | 'info' | 'warning' | 'error'
  context?: string
  append?: true
  priority?: number
}

export async function createAnnotation(given: string | undefined, options: AnnotateOptions): Promise<void> {
  if (given === undefined && process.stdin.isTTY) {
    throw new Refused('The text is missing: write it behind the command, or pipe it in.')
  }
  const text = given ?? (await readInput())
  if (text.trim() === '') throw new Refused('The text is empty.')
  const { api, path, name, job: named } = await findBuild(options.build, options)
  const job = options.job ?? named
  const { style, context, append, priority } = options
  const body: CreateAnnotation = {
    body: text,
    ...(style === undefined ? {} : { style }),
    ...(context === undefined ? {} : { context }),
    ...(append === undefined ? {} : { append }),
    ...(priority === undefined ? {} : { priority }),
  }
  const owner = job === null ? path : `jobs/${encodeURIComponent(job)}`
  const annotation = await api.post<Annotation>(`${owner}/annotations`, body)
  print(
    options,
    annotation,
    `Annotated ${job === null ? oneLine(name) : `job ${oneLine(job)}`}, context ${oneLine(annotation.context)}.`,
  )
}
