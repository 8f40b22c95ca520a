-- `document` is the rule as it was written. Older rules have none; theirs is made from the columns.
alter table rules add column description text, add column document text;
