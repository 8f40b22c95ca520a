// Options and arguments that several build commands share.
import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import { notBlank } from '../../command.ts'

export const PIPELINE = [
  '--pipeline <slug>',
  'the pipeline (default: the one of this git repository)',
] as const
export const WATCH = ['--watch', 'watch the build, and exit as it ends'] as const

/** A command about one build. */
export function buildCommand(name: string, description: string, example: string): Command {
  return clientCommand(name, description, example)
    .argument(
      '[build]',
      'its number, PIPELINE/NUMBER, or the address of its page (default: the newest of this branch)',
    )
    .option('-p, --pipeline <slug>', PIPELINE[1], notBlank)
}
