import type { Context } from '../../../context.ts'
import type { Report } from './report.ts'
import type { Terms } from './selection.ts'

/** What the work needs, in a server or in a command. */
export type Work = Pick<Context, 'db' | 'blobs' | 'config'>

export interface PipelineAddress {
  organizationId: string
  pipelineId: string
}

/** Deletes one batch, in one short transaction, and adds it to the report. False: nothing is left. */
export type Step = (work: Work, pipeline: PipelineAddress, terms: Terms, report: Report) => Promise<boolean>
