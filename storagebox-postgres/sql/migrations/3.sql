-- Version 3: the calls that a refusal has made void (ER-5). Their attempts change nothing, however late they arrive.
-- A claim that is neither held nor ended and has void calls has the state `void`. Such a row is forgotten like that of
-- an ended claim.
ALTER TABLE {schema}.claims ADD COLUMN void_calls bigint[];
-- The refusal, and then the numbers of the calls. Null for an operation that was applied or cancelled.
ALTER TABLE {schema}.counter_ops ADD COLUMN void_calls text[] COLLATE "C";
-- Functions that have other arguments, another result or another name from this version on.
DROP FUNCTION IF EXISTS
    {schema}.bank_empty_cells(bigint, bigint[], bigint[]),
    {schema}.bank_take(bigint, bigint, text, bigint, bigint, bigint, bigint, bigint),
    {schema}.bank_take_ahead(bigint, text, bigint, bigint, bigint, bigint),
    {schema}.bank_take_lapsed(bigint, text, bigint, bigint, bigint[], bigint[]),
    {schema}.bank_lock(bigint, text, bigint),
    {schema}.bank_extend(bigint, text, bigint, bigint),
    {schema}.bank_maintain(bigint, bigint),
    {schema}.entity_maintain(bigint, bigint),
    {schema}.token_maintain(bigint, bigint),
    {schema}.bank_confirm(bigint, text, bigint),
    {schema}.bank_retire(bigint, text, bigint),
    {schema}.counter_apply(
        bigint, text[], text[], bigint[], bigint[], bigint[], integer[], integer, bigint, bigint, boolean, boolean,
        bigint, bigint
    ),
    {schema}.counter_apply_widely(bigint, text, text, bigint, integer, integer, bigint, bigint, bigint),
    {schema}.counter_known(bigint, text, text, bigint, timestamptz),
    {schema}.counter_value(bigint, text),
    {schema}.token_exists(bigint, text);
