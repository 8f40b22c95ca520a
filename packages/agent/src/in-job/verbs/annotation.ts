import type { AnnotateRequest, AnnotationScope, AnnotationStyle } from '@millrace/protocol/annotations.ts'
import { annotate as createAnnotation, removeAnnotation } from '../../api/annotations.ts'
import { withoutSecrets } from '../job-api.ts'
import { Exit, JOB } from '../verb.ts'
import type { Flag, Verb } from '../verb.ts'

const MAX_BODY_BYTES = 1024 * 1024
const CONTEXT: Flag = {
  kind: 'text',
  summary: 'What the annotation is about; one per context',
  variable: 'BUILDKITE_ANNOTATION_CONTEXT',
}
const SCOPE: Flag = {
  kind: 'text',
  summary: 'build or job',
  variable: 'BUILDKITE_ANNOTATION_SCOPE',
  fallback: 'build',
}

const annotate: Verb = {
  name: 'annotate',
  usage: '[body] [flags]',
  summary: 'Write a note on the build; the body comes from standard input when absent.',
  flags: {
    job: JOB,
    context: CONTEXT,
    scope: SCOPE,
    style: {
      kind: 'text',
      summary: 'success, info, warning or error',
      variable: 'BUILDKITE_ANNOTATION_STYLE',
    },
    append: { kind: 'switch', summary: 'Add to what is there', variable: 'BUILDKITE_ANNOTATION_APPEND' },
    priority: {
      kind: 'text',
      summary: '1 to 10; higher stands above',
      variable: 'BUILDKITE_ANNOTATION_PRIORITY',
      fallback: '3',
    },
    'redacted-vars': { kind: 'text', summary: 'Accepted, without effect' },
  },
  async run({ args, flags, io, api }) {
    const style = flags.text('style')
    const body = args[0] ?? (await io.readInput())
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw new Exit(1, 'The body is larger than 1 MiB.')
    if (body.trim() === '' && style === '')
      throw new Exit(1, 'The annotation has neither a body nor a style.')
    const context = flags.text('context')
    const request: AnnotateRequest = {
      ...(body === '' ? {} : { body: await withoutSecrets(io, body) }),
      ...(context === '' ? {} : { context }),
      ...(style === '' ? {} : { style: style as AnnotationStyle }),
      ...(flags.isOn('append') ? { append: true } : {}),
      priority: Number.parseInt(flags.text('priority'), 10),
      scope: flags.text('scope') as AnnotationScope,
    }
    await createAnnotation(api(), flags.need('job'), request)
  },
}

const remove: Verb = {
  name: 'annotation remove',
  usage: '[--context <context>]',
  summary: 'Take a note off the build.',
  flags: { job: JOB, scope: SCOPE, context: { ...CONTEXT, fallback: 'default' } },
  async run({ flags, api }) {
    const scope = flags.text('scope') as AnnotationScope
    await removeAnnotation(api(), flags.need('job'), flags.text('context'), scope)
  },
}

export const annotationVerbs = [annotate, remove]
