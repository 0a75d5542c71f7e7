-- Marks the words of a query in a text, as safe HTML.

-- ts_headline drops what looks like markup (Vec<T>). So <, > and & and the marks are private-use
-- characters until the end, and then become entities and tags. The parser's words must be those of
-- tasklens.plain_text, so another private-use character (E005) separates them meanwhile. Signs, and
-- pairs of characters of scripts without spaces, are marked in advance, at even and odd offsets.
-- C++ and C# are spelled out meanwhile, each between E006 and E007. E008 is where text is left out.
create function tasklens.highlight(text text, wanted tsquery, language text default 'english') returns text
language plpgsql stable security invoker set search_path = ''
as $$
declare
  plain text := left(text, 20000);
  asked constant text := wanted::text;
  common text; -- words that stemming drops, if they are asked for, as alternatives
  pairs text[];
  first_pair integer;
  source text;
  line text;
begin
  -- From U+0300 on: combining marks, the private-use characters, and the scripts without spaces.
  -- Most texts have none.
  if plain ~ '[\u0300-\uffff]' then
    plain := tasklens.compose_text(plain);
    if plain ~ u&'[\E000-\E008]' then
      plain := translate(plain, u&'\E000\E001\E002\E003\E004\E005\E006\E007\E008', '');
    end if;
  end if;
  -- Not translate(), which compares every character with each one in its list.
  plain := replace(replace(replace(plain, '<', u&'\E002'), '>', u&'\E003'), '&', u&'\E004');
  if asked ~ ('''' || tasklens.word_mark('sign') || '|[' || tasklens.unspaced_scripts() || ']') then
    -- Of a long query the first hundred.
    pairs := array(
      select case when m[1] is null then translate(convert_from(decode(m[2], 'hex'), 'utf8'), '<>&', u&'\E002\E003\E004') else m[1] end
      from regexp_matches(asked, '''(?:([' || tasklens.unspaced_scripts() || ']{1,2})|' || tasklens.word_mark('sign') || '([0-9a-f]+))', 'g') with ordinality as r(m, place)
      order by place limit 100);
    first_pair := (select min(nullif(strpos(plain, p), 0)) from unnest(pairs) p);
  end if;
  if first_pair is not null then
    first_pair := case when length(plain) <= 200 then 1 else greatest(1, first_pair - 40) end;
    plain := case when first_pair > 1 then u&'\E008' else '' end || (
      select string_agg(
        case when c.is_marked and not c.was_marked then u&'\E000' else '' end || c.letter
          || case when c.is_marked and not c.stays_marked then u&'\E001' else '' end, '' order by c.place)
      from (
        select l.letter, l.place, l.is_marked,
          coalesce(lag(l.is_marked) over (order by l.place), false) as was_marked,
          coalesce(lead(l.is_marked) over (order by l.place), false) as stays_marked
        from (
          select s.letter, s.place,
            s.letter = any (pairs) or coalesce(s.letter || lead(s.letter) over (order by s.place) = any (pairs), false)
            or coalesce(lag(s.letter) over (order by s.place) || s.letter = any (pairs), false) as is_marked
          from regexp_split_to_table(substr(plain, first_pair, 200), '') with ordinality as s(letter, place)
        ) l
      ) c) || case when length(plain) >= first_pair + 200 then u&'\E008' else '' end;
  end if;
  if wanted is null then
    line := left(plain, 200) || case when length(plain) > 200 then u&'\E008' else '' end;
  else
    if strpos(asked, tasklens.word_mark('common') || '''') > 0 then
      common := '(?<![[:alnum:]])(' || (
        select string_agg(distinct w.m[1], '|') from regexp_matches(plain, '([[:alpha:]]+)', 'g') w(m)
        where strpos(asked, '''' || lower(extensions.unaccent(w.m[1])) || tasklens.word_mark('common') || '''') > 0) || ')(?![[:alnum:]])';
    end if;
    -- Whole names if their parts are not wanted: "tableview" marks TableView.
    foreach source in array array[
      tasklens.part_names(plain, u&'\E005', u&'\E006', u&'\E007'), tasklens.part_names(plain, '', u&'\E006', u&'\E007')]
    loop
      source := coalesce(regexp_replace(source, common, '\1' || tasklens.word_mark('common'), 'g'), source);
      source := regexp_replace(source, '([^[:alnum:][:space:]])(?=[[:alnum:]])', u&'\\1\E005', 'g');
      line := ts_headline(('tasklens.' || language)::regconfig, source, wanted,
        u&'StartSel="\E000", StopSel="\E001", ' || case when first_pair is not null or length(plain) <= 200 then 'HighlightAll=true'
          else u&'MaxWords=30, MinWords=12, ShortWord=0, MaxFragments=2, FragmentDelimiter="\E008"' end);
      if common is not null then
        line := replace(line, tasklens.word_mark('common'), '');
        source := replace(source, tasklens.word_mark('common'), '');
      end if;
      exit when line ~ u&'\E000' or plain !~ '[[:alnum:]][[:upper:]]';
    end loop;
    if first_pair is null and length(plain) > 200 then
      line := (
        select string_agg(case when f.place = 1 and not starts_with(f.whole, f.piece) then u&'\E008' else '' end || f.marked
            || case when case when f.next is null then right(f.whole, length(f.piece)) = f.piece else strpos(f.whole, f.piece || f.next) > 0 end
              then ' ' else u&'\E008' end, '' order by f.place)
        from (
          select p.marked, p.place, q.piece, lead(q.piece) over (order by p.place) as next, regexp_replace(source, '\s+', '', 'g') as whole
          from string_to_table(line, u&'\E008') with ordinality as p(marked, place)
          cross join lateral (select regexp_replace(p.marked, u&'[\\s\E000\E001]+', '', 'g') as piece) q
        ) f);
    end if;
    if first_pair is not null then
      -- Without the marks within others.
      line := (
        select string_agg(
          case when d.piece = u&'\E000' and d.depth > 1 or d.piece = u&'\E001' and d.depth > 0 then '' else d.piece end, '' order by d.place)
        from (
          select m[1] as piece, r.place,
            sum(case m[1] when u&'\E000' then 1 when u&'\E001' then -1 else 0 end) over (order by r.place) as depth
          from regexp_matches(line, u&'[\E000\E001]|[^\E000\E001]+', 'g') with ordinality as r(m, place)
        ) d);
    end if;
    -- Adjacent marks within a name become one.
    line := replace(regexp_replace(line, u&'\E001\E005*([._:/-]*)\E005*\E000', '\1', 'g'), u&'\E005', '');
  end if;
  -- An excerpt may begin after the E006 or end before the E007.
  if line ~ u&'[\E006\E007]' then
    line := regexp_replace(regexp_replace(line, u&'\E006(\E000?[A-Za-z])plusplus(\E001?)\E007?', '\1++\2', 'g'), u&'plusplus(\E001?)\E007', '++\1', 'g');
    line := regexp_replace(regexp_replace(line, u&'\E006(\E000?[A-Za-z])sharp(\E001?)\E007?', '\1#\2', 'g'), u&'sharp(\E001?)\E007', '#\1', 'g');
    line := translate(line, u&'\E006\E007', '');
  end if;
  if line ~ u&'\E008' then
    line := regexp_replace(regexp_replace(btrim(line), u&'(?<=\\S)\\s*\E008\\s*(?=\\S)', ' … ', 'g'), u&'\\s*\E008\\s*', '…', 'g');
  end if;
  return replace(replace(replace(replace(replace(replace(replace(line,
    u&'\E002', '&lt;'), u&'\E003', '&gt;'), u&'\E004', '&amp;'), '"', '&quot;'), '''', '&#39;'),
    u&'\E000', '<mark>'), u&'\E001', '</mark>');
end
$$;
comment on function tasklens.highlight is 'An HTML-escaped excerpt of a text in a language, with <mark> around the words of the query, and … where it leaves text out.';

insert into tasklens.migrations (version) values ('20261127000730');
