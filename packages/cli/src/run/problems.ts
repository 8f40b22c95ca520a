// Formats the problems of a pipeline for lint and run.
import type { Problem } from '@millrace/engine/problem.ts'
import { formatProblem } from '@millrace/engine/steps/format-problem.ts'
import type { Output } from '../command.ts'
import type { PipelineFile } from './pipeline-file.ts'
import { Refused } from '../refused.ts'

export function formatProblems({ name, text }: PipelineFile, problems: readonly Problem[]): string {
  return problems.map((problem) => formatProblem(name, text, problem)).join('\n\n')
}

export function refuseProblems(output: Output, file: PipelineFile, problems: readonly Problem[]): Refused {
  if (!output.json) return new Refused(formatProblems(file, problems))
  console.log(JSON.stringify({ ok: false, problems, warnings: [], steps: null, jobs: null }))
  return new Refused()
}
