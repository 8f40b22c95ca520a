import { Type, type Static } from 'typebox'
import { integer, orNull, text, timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const Subject = Type.Object({ id: Uuid, slug: Type.String(), name: Type.String() })

const Amount = Type.Number({
  minimum: 0.01,
  maximum: 1_000_000_000,
  description: 'What it may cost in a month, in the organization’s currency, to six decimals.',
})

export const Budget = Type.Object(
  {
    id: Uuid,
    url: Type.String(),
    web_url: Type.String(),
    pipeline: orNull(Subject, 'The pipeline; null for a budget of a team.'),
    team: orNull(Subject, 'The team, for all pipelines that it has; null for a budget of a pipeline.'),
    amount: Amount,
    currency: text('ISO code of the organization’s currency.'),
    month: text('The month that is running, in UTC, like `2026-11`.'),
    spent: Type.Number({ description: 'What the jobs cost that have ended in this month.' }),
    percent: Type.Number({ description: 'That as a part of the amount, in percent; it may exceed 100.' }),
    last_notice: orNull(
      Type.Object({
        share: integer('Percent of the amount that was spent: 80 or 100.'),
        at: timestamp('When it was announced.'),
      }),
      'The last notice, of whichever month; null: none yet.',
    ),
    created_at: timestamp('When the budget was created.'),
    created_by: UserOrNull,
  },
  { title: 'Budget' },
)

export const CreateBudget = Type.Object(
  {
    pipeline_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'UUID of the pipeline. Either this or `team_id`.' }),
    ),
    team_id: Type.Optional(Type.String({ format: 'uuid', description: 'UUID of the team.' })),
    amount: Amount,
  },
  { title: 'CreateBudget', examples: [{ team_id: '01c19001-0c29-4f60-8e09-7b0a2cd2a3a7', amount: 200 }] },
)

export const UpdateBudget = Type.Object(
  { amount: Type.Optional(Amount) },
  { title: 'UpdateBudget', examples: [{ amount: 250 }] },
)

export type CreateBudgetBody = Static<typeof CreateBudget>
export type UpdateBudgetBody = Static<typeof UpdateBudget>
