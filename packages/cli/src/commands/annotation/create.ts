import { InvalidArgumentError, Option, type Command } from 'commander'
import type { AnnotateOptions } from '../../client/annotation/create.ts'
import { clientCommand, readCount } from '../../client/command.ts'
import { notBlank } from '../../command.ts'
import { PIPELINE } from '../build/options.ts'

export const annotationCreate = (): Command =>
  clientCommand(
    'create',
    'Write a note on the page of a build: Markdown, from the command line or standard input.',
    'annotation create "All **412** tests passed." --build 12 --style success --context tests',
  )
    .argument('[text]', 'the note (default: standard input)')
    .option('--build <build>', 'the build, as in build show (default: the newest of this branch)', notBlank)
    .option('-p, --pipeline <slug>', PIPELINE[1], notBlank)
    .option('--job <id>', 'on a job instead of the build', notBlank)
    .addOption(new Option('--style <style>', 'how it looks').choices(['success', 'info', 'warning', 'error']))
    .option('--context <name>', 'replaces the note of the same context (default: default)', notBlank)
    .option('--append', 'adds to the note of the same context instead')
    .option('--priority <number>', 'from 1 to 10; higher ones come first', readPriority)
    .action(async (text: string | undefined, options: AnnotateOptions) => {
      const { createAnnotation } = await import('../../client/annotation/create.ts')
      await createAnnotation(text, options)
    })

function readPriority(text: string): number {
  const number = readCount(text)
  if (number <= 10) return number
  throw new InvalidArgumentError('It must be from 1 to 10.')
}
