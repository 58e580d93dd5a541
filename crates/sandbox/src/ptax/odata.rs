//! The supported part of `OData`: two functions, parameter aliases, and five options.

use std::collections::BTreeMap;

use actix_web::web;
use jiff::civil::Date;

use super::error::PtaxError;

/// The columns of a bulletin.
const COLUMNS: [&str; 3] = ["cotacaoCompra", "cotacaoVenda", "dataHoraCotacao"];

/// The query parameters of a request that were not parsed yet.
#[derive(Debug)]
pub struct Query(BTreeMap<String, String>);

/// The parsed `OData` options of a request.
#[derive(Debug)]
pub struct Options {
    /// `$top`: the largest number of bulletins in the response.
    pub top: usize,
    /// `$skip`: the number of bulletins to omit at the start.
    pub skip: usize,
    /// `true` with `$orderby=dataHoraCotacao desc`: the newest bulletin is first.
    pub is_descending: bool,
    select: Option<Vec<String>>,
}

impl Options {
    /// Returns whether the response contains this column. Without `$select` it contains all columns.
    #[must_use]
    pub fn selects(&self, column: &str) -> bool {
        self.select.as_ref().is_none_or(|select| select.iter().any(|name| name == column))
    }
}

impl Query {
    /// Parses a query string. As at the Central Bank, a `+` does not mean a space.
    ///
    /// # Errors
    /// 400 for a query that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self, PtaxError> {
        let pairs = web::Query::<BTreeMap<String, String>>::from_query(&text.replace('+', "%2B"));
        pairs.map(|pairs| Self(pairs.into_inner())).map_err(|_| PtaxError::Invalid("Parâmetros inválidos"))
    }

    /// Parses the options. Every other remaining parameter is refused.
    ///
    /// # Errors
    /// 400 for unknown parameters and invalid values.
    pub fn options(mut self) -> Result<Options, PtaxError> {
        let invalid = || PtaxError::Invalid("Parâmetros inválidos");
        let mut take = |name: &str| self.0.remove(name);
        let number =
            |text: Option<String>, default| text.map_or(Ok(default), |text| text.parse().map_err(|_| invalid()));
        let (top, skip) = (number(take("$top"), usize::MAX)?, number(take("$skip"), 0)?);
        let is_descending = match take("$orderby").as_deref() {
            None | Some("dataHoraCotacao" | "dataHoraCotacao asc") => false,
            Some("dataHoraCotacao desc") => true,
            Some(_) => return Err(invalid()),
        };
        let select = take("$select").map(|text| text.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>());
        let are_columns = |names: &Vec<String>| names.iter().all(|name| COLUMNS.contains(&name.as_str()));
        if take("$format").is_some_and(|format| format != "json")
            || select.as_ref().is_some_and(|names| !are_columns(names))
            || !self.0.is_empty()
        {
            return Err(invalid());
        }
        Ok(Options { top, skip, is_descending, select })
    }
}

/// A call of an `OData` function, with the period of the bulletins.
#[derive(Debug)]
pub struct Function {
    /// The name: `CotacaoDolarDia` or `CotacaoDolarPeriodo`.
    pub name: &'static str,
    /// The first day.
    pub from: Date,
    /// The last day, inclusive.
    pub to: Date,
}

impl Function {
    /// Parses a call. Each argument is a date, such as `'12-31-2026'`, or an alias, such as `@date`. The date of an alias is the value of
    /// the query parameter with the alias's name.
    ///
    /// # Errors
    /// 404 for unknown functions, 400 for missing or invalid dates.
    pub fn parse(text: &str, query: &mut Query) -> Result<Self, PtaxError> {
        let (name, rest) = text.split_once('(').ok_or(PtaxError::NotFound)?;
        let arguments = rest.strip_suffix(')').ok_or(PtaxError::NotFound)?;
        let mut arguments: BTreeMap<&str, &str> =
            arguments.split(',').filter_map(|argument| argument.split_once('=')).collect();
        let mut date = |name: &str| {
            let value = arguments.remove(name)?;
            let value = if value.starts_with('@') { query.0.remove(value)? } else { value.to_owned() };
            let quoted = value.strip_prefix('\'')?.strip_suffix('\'')?;
            Date::strptime("%m-%d-%Y", quoted).ok()
        };
        let call = match name {
            "CotacaoDolarDia" => date("dataCotacao").map(|day| Self { name: "CotacaoDolarDia", from: day, to: day }),
            "CotacaoDolarPeriodo" => date("dataInicial").zip(date("dataFinalCotacao")).map(|(from, to)| Self {
                name: "CotacaoDolarPeriodo",
                from,
                to,
            }),
            _ => return Err(PtaxError::NotFound),
        };
        call.ok_or(PtaxError::Invalid("Datas devem ter o formato 'MM-DD-AAAA'"))
    }
}
