import type { Command } from 'commander'
import { collect, notBlank } from '../../command.ts'
import { buildCommand } from '../build/options.ts'

/** A command about artifacts of one build. */
export const artifactCommand = (name: string, description: string, example: string): Command =>
  buildCommand(name, description, example)
    .option(
      '--path <pattern>',
      'only these, * stands for any characters; repeat it for several patterns',
      collect,
    )
    .option('--job <id>', 'only those of this job', notBlank)
