import { Type, type Static } from 'typebox'
import { UserOrNull } from '../../people/user/schema.ts'
import { boolean, integer, oneOf, optional, orNull, text, Timestamp, Uuid } from '../../schema.ts'

export const longestBranch = 500
export const longestMessage = 65_536
const mostVariables = 100

export const MappedValue = Type.Object(
  {
    pointer: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: 'Where the value is in the payload: a JSON pointer such as `/ref`.',
        examples: ['/ref'],
      }),
    ),
    text: Type.Optional(
      Type.String({ maxLength: longestMessage, description: 'A fixed value, instead of a pointer.' }),
    ),
    default: Type.Optional(
      Type.String({
        maxLength: longestMessage,
        description: 'The value where the payload has none. Without it such a payload is refused.',
      }),
    ),
  },
  { title: 'TriggerValue' },
)
export type MappedValue = Static<typeof MappedValue>

const Variables = Type.Record(Type.String(), MappedValue, { maxProperties: mostVariables })

export const signatureKinds = ['hmac_sha256', 'token', 'none'] as const

const Signature = oneOf(
  signatureKinds,
  'How a request proves that it knows the secret: `hmac_sha256` of the body in hexadecimal digits, with or without `sha256=` before them; `token`, the secret itself, with or without `Bearer`; or `none`: the address alone is the secret.',
)

const fields = {
  id: Uuid,
  url: Type.String(),
  name: Type.String(),
  enabled: boolean('Whether it makes builds.'),
  address: text(
    'Where payloads are sent. Empty unless the caller may edit the pipeline and the token has `write_pipelines`.',
  ),
  branch: orNull(MappedValue, 'Branch of the builds; null: the default branch.'),
  commit: orNull(MappedValue, 'Commit of the builds; null: HEAD.'),
  message: orNull(MappedValue, 'Message of the builds; null: the name of the trigger.'),
  env: Type.Record(Type.String(), MappedValue),
  condition: orNull(
    text('Builds are made only where it holds: a condition as of a step, with `payload("/pointer")`.'),
  ),
  signature: Signature,
  signature_header: orNull(text('The header of the signature or token.')),
  created_at: Timestamp,
  created_by: UserOrNull,
  pipeline: Type.Object(
    { id: Uuid, slug: Type.String(), url: Type.String() },
    { description: 'The pipeline.' },
  ),
}

export const Trigger = Type.Object(fields, { title: 'PipelineTrigger' })

/** The answers to what may make a secret. */
export const TriggerWithSecret = Type.Object(
  {
    ...fields,
    secret: Type.Optional(
      text('The new secret. It is shown this once, and absent where no new one was made.'),
    ),
  },
  { title: 'PipelineTriggerWithSecret' },
)

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' })

const optionalFields = {
  enabled: Type.Optional(boolean('Whether it makes builds. Default: true.')),
  branch: optional(MappedValue, 'Branch of the builds. Default: the default branch.'),
  commit: optional(MappedValue, 'Commit of the builds. Default: HEAD.'),
  message: optional(MappedValue, 'Message of the builds. Default: the name of the trigger.'),
  env: optional(Variables),
  condition: optional(
    Type.String({ maxLength: 10_000 }),
    'Builds are made only where it holds: a condition as of a step, with `payload("/pointer")`.',
  ),
  signature: Type.Optional(Signature),
  signature_header: optional(
    Type.String({ maxLength: 100, pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" }),
    'The header of the signature or token. Default: `X-Millrace-Signature`, for a token `Authorization`.',
  ),
  secret: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 1000,
      description:
        'A secret that the sender has chosen. Default: a new one is made where the signature needs it.',
    }),
  ),
}

export const CreateTrigger = Type.Object(
  { name: Name, ...optionalFields },
  {
    title: 'CreatePipelineTrigger',
    examples: [
      {
        name: 'Base image',
        branch: { text: 'main' },
        message: { pointer: '/push_data/tag', default: 'A new base image' },
        condition: 'payload("/repository/repo_name") == "acme/base"',
      },
    ],
  },
)

export const UpdateTrigger = Type.Object(
  { name: Type.Optional(Name), ...optionalFields },
  { title: 'UpdatePipelineTrigger', examples: [{ enabled: false }] },
)

export type CreateTriggerBody = Static<typeof CreateTrigger>
export type UpdateTriggerBody = Static<typeof UpdateTrigger>

const Payload = Type.Object(
  {},
  { additionalProperties: true, description: 'A payload as a sender sends it.' },
)

export const DryRun = Type.Object(
  { payload: Payload },
  { title: 'DryRunPipelineTrigger', examples: [{ payload: { ref: 'refs/heads/main' } }] },
)

export const DryRunResult = Type.Object(
  {
    would_build: boolean('Whether such a payload makes a build.'),
    status: integer('The status that the sender gets.'),
    message: text('What would be done, or why nothing would be.'),
    build: orNull(
      Type.Object({
        branch: Type.String(),
        commit: Type.String(),
        message: Type.String(),
        env: Type.Record(Type.String(), Type.String()),
      }),
      'The build that the payload asks for; null where it cannot be read from the payload.',
    ),
  },
  { title: 'PipelineTriggerDryRun' },
)

export const TriggerAnswer = Type.Object(
  {
    message: text('What was done, or why nothing was.'),
    build: orNull(
      Type.Object({
        id: Uuid,
        number: integer('Number of the build within its pipeline.'),
        web_url: Type.String(),
      }),
      'The build; null where none was made.',
    ),
    replayed: boolean('Received before: this is what was done then.'),
  },
  { title: 'TriggerAnswer' },
)
export type TriggerAnswer = Static<typeof TriggerAnswer>
