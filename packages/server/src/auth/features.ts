// Features that an operator switches on or off for an organization.

export const features = [
  'custom_agent_images',
  'audit_log',
  'event_log_api',
  'include_build_meta_data',
  'tracestate',
  'members_manage_notification_services',
  'members_view_teams',
] as const

export type Feature = (typeof features)[number]

export const isFeature = (text: string): text is Feature => features.some((feature) => feature === text)
