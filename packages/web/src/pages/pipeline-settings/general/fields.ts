// The form of a pipeline's general settings: texts that people type, and what the API takes.
import { readVariables } from '../../pipeline/variables.ts'
import type { Pipeline, PipelineChange } from '../queries.ts'

/** The API stores a list of steps as this document; then variables are a setting. Otherwise they are in the YAML. */
const stepList = '{\n  "steps": ['

export const fieldsOf = (pipeline: Pipeline) => ({
  name: pipeline.name,
  slug: pipeline.slug,
  description: pipeline.description,
  emoji: pipeline.emoji ?? '',
  color: pipeline.color ?? '',
  tags: pipeline.tags.join(', '),
  cluster_id: pipeline.cluster_id ?? '',
  visibility: pipeline.visibility,
  default_command_step_timeout: pipeline.default_command_step_timeout,
  maximum_command_step_timeout: pipeline.maximum_command_step_timeout,
  /** null: they are a part of the steps. */
  env: pipeline.configuration.startsWith(stepList) ? writeVariables(pipeline.env) : null,
})

export type Fields = ReturnType<typeof fieldsOf>

const writeVariables = (env: Readonly<Record<string, string>>) =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

export function problemIn(fields: Fields): string | undefined {
  const { default_command_step_timeout: usual, maximum_command_step_timeout: most, env } = fields
  if (usual !== null && most !== null && usual > most)
    return 'The timeout of steps is longer than the longest one.'
  const variables = readVariables(env ?? '')
  return variables.ok ? undefined : variables.problem
}

/** A new name alone would make a new address, so the address always goes with it. */
export function changeOf({ tags, env, ...changed }: Partial<Fields>, { slug }: Fields): PipelineChange {
  const variables = readVariables(env ?? '')
  return {
    ...changed,
    ...(changed.name === undefined ? {} : { slug }),
    ...(tags === undefined ? {} : { tags: readTags(tags) }),
    ...(env === undefined || env === null || !variables.ok ? {} : { env: variables.values }),
  }
}

export const readTags = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
]
