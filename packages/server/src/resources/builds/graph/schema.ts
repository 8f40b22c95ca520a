import { Type } from 'typebox'
import { boolean, described, integer, orNull, text, Uuid, uuid } from '../../schema.ts'

const Milliseconds = orNull(integer('Unix time in milliseconds.'))

export const ShortBuild = Type.Object(
  {
    id: Uuid,
    pipeline_id: Uuid,
    pipeline_slug: text('Name of the pipeline in URLs.'),
    number: integer('Number of the build in its pipeline.'),
    state: text('The state that other endpoints show.'),
    blocked: boolean('Whether it waits for a person.'),
    message: orNull(text('The first 1,000 characters.')),
    branch: Type.String(),
    commit: Type.String(),
    created_at: Milliseconds,
    started_at: Milliseconds,
    finished_at: Milliseconds,
    worked_before_seconds: Type.Number({
      description: 'How long it ran before a retry opened it again; 0 if none did.',
    }),
  },
  { title: 'ShortBuild' },
)

const kinds = ['command', 'wait', 'block', 'input', 'trigger', 'group'].map((kind) => Type.Literal(kind))

export const GraphStep = Type.Object(
  {
    id: Uuid,
    kind: Type.Union(kinds, { description: 'Kind of the step.' }),
    key: orNull(text('The step’s `key`.')),
    label: orNull(text('The first 300 characters.')),
    group_id: orNull(uuid('The group that it belongs to.')),
    parallelism: orNull(integer('How many parallel jobs the step becomes.')),
    matrix: boolean('Whether the step has a matrix.'),
    command: orNull(text('The first 300 characters.')),
  },
  { title: 'GraphStep' },
)

const fieldsOfShortJob = [
  'id',
  'step id',
  'state',
  'label, where it is not the label of the step',
  'index among parallel jobs, from 0',
  'attempt, 0 is the first',
  'created',
  'runnable',
  'started',
  'finished',
  'exit status',
  'soft failed, 0 or 1',
  'id of the job that retries it',
  'name of the agent',
  'why it failed or was left out, in a few words',
  'unblockable, 0 or 1',
]

export const ShortJob = Type.Array(Type.Union([Type.String(), Type.Integer(), Type.Null()]), {
  title: 'ShortJob',
  description: `A job as an array: ${fieldsOfShortJob.map((field, index) => `${index} ${field}`).join('; ')}. Times are Unix milliseconds; what does not apply is null.`,
})

const Cursor = text('For `after` of the organization’s events: they continue exactly where this answer ends.')

export const Graph = Type.Object(
  {
    cursor: Cursor,
    build: described(ShortBuild, 'What the triggered build is made with.'),
    steps: Type.Array(GraphStep, { description: 'In the order of the pipeline.' }),
    edges: Type.Array(Type.Array(Uuid), {
      description: 'Pairs of step ids: the second waits for the first.',
    }),
    jobs: Type.Array(ShortJob, { description: 'In the order of the pipeline, retried ones included.' }),
  },
  { title: 'Graph' },
)
