import { badRequest } from '../../lib/errors.ts'
import { urlOf } from '../addresses.ts'
import { embedded } from '../fields.ts'
import { globalId, readIdOf } from '../ids.ts'
import { byIdInOrganization, givenId, written } from '../mutations.ts'
import { findById, Node } from '../node.ts'
import type { BodyInputs, Field, Part } from '../table.ts'

const ofRule = byIdInOrganization('Rule')

const content: BodyInputs = {
  description: 'String',
  value: {
    type: 'JSON!',
    description: 'source_pipeline, target_pipeline, and conditions: an object, or its text.',
    toBody(value) {
      if (typeof value !== 'object') throw badRequest('`value` must be a JSON object.')
      return value
    },
  },
}

export const rulePart: Part = {
  queries: {
    rule: {
      type: 'Rule',
      args: { uuid: 'ID!' },
      resolve: (_, { uuid }: { uuid: string }, context) => findById(context, readIdOf('Rule', uuid)),
    },
  },
  nodes: {
    Rule: {
      action: 'RuleAction!',
      conditions: '[String!]!',
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      description: 'String',
      document: {
        type: 'String!',
        description: 'JSON text: the type as `rule`, and `value` as it was written.',
      },
      effect: 'RuleEffect!',
      source: pipelineById('RuleSource', 'source_uuid'),
      sourceType: 'RuleSourceType!',
      target: pipelineById('RuleTarget', 'target_uuid'),
      targetType: 'RuleTargetType!',
      type: 'String!',
      uuid: 'ID!',
    },
  },
  unions: { RuleSource: ['Pipeline'], RuleTarget: ['Pipeline'] },
  enums: {
    RuleAction: 'ARTIFACTS_READ TRIGGER_BUILD',
    RuleEffect: 'ALLOW',
    RuleSourceType: 'PIPELINE',
    RuleTargetType: 'PIPELINE',
  },
  mutations: {
    ruleCreate: {
      route: 'POST /rules',
      at: { organizationId: 'Organization' },
      input: {
        type: {
          type: 'String!',
          description: 'pipeline.trigger_build.pipeline or pipeline.artifacts_read.pipeline',
        },
        ...content,
      },
      payload: { rule: written('Rule!') },
    },
    ruleUpdate: { route: 'PUT', at: ofRule, input: content, payload: { rule: written('Rule!') } },
    ruleDelete: { route: 'DELETE', at: ofRule, payload: { deletedRuleId: givenId } },
  },
}

/** A pipeline that REST names by its UUID. More of it is read where the caller may see it. */
function pipelineById(type: string, column: string): Field {
  return {
    type,
    async resolve(rule, _, { rest, addresses }) {
      const id = await rule.text(column)
      const known = { id, graphql_id: globalId('Pipeline', id) }
      return new Node('Pipeline', rule.address, known, async () =>
        rest.get(urlOf('Pipeline'), await addresses.get('Pipeline', id)),
      )
    },
  }
}
